// Two small recordings for unit tests, written with one message per line.

import type { Peer } from "../../generated/protocol";
import { Kind, type Recording } from "../../model/recording";
import { peer, recordingOf, type Sample } from "../../sequence/model/sample";
import type { Side } from "../sides";

/** The two sides of {@link bothOf}. */
export const BEFORE_AND_AFTER: readonly [Side, Side] = [
  { name: "before", buses: [0] },
  { name: "after", buses: [1] },
];

/** The peers of each side: a client, two services, and the recorder. */
const PEERS = ["client", "org.example.Mail", "org.example.Other", "recorder"];

/** A return from a service to the client for the call in a row of its side. */
export function replyTo(at: number, from: number, call: number): Sample {
  return { at, kind: Kind.Return, from, to: 0, call };
}

/**
 * A recording of both sides with the same peers on each. Rows and peers are relative to their side.
 */
export function bothOf(before: readonly Sample[], after: readonly Sample[]): Recording {
  const moved = after.map((sample) => ({
    ...sample,
    bus: 1,
    from: sample.from + PEERS.length,
    ...(sample.to === undefined ? {} : { to: sample.to + PEERS.length }),
    ...(sample.call === undefined ? {} : { call: sample.call + before.length }),
  }));
  const peers = BEFORE_AND_AFTER.flatMap((_, bus) =>
    PEERS.map((name, id) => peerOf(bus, name, id + bus * PEERS.length)),
  );
  const recording = recordingOf([...before, ...moved], peers);
  recording.buses = BEFORE_AND_AFTER.map(({ name }, file) => ({
    label: name,
    address: null,
    redacted: false,
    method: "trace",
    file,
  }));
  return recording;
}

function peerOf(bus: number, name: string, id: number): Peer {
  return peer(id, { bus, names: [name], recorder: name === "recorder" });
}
