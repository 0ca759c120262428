// Small recordings for tests, with one message per line.

import type { Peer } from "../../generated/protocol";
import { Kind, NONE, Recording } from "../../model/recording";
import { messagesFrame } from "../../model/testing";
import type { ColumnOptions } from "./columns";

/** A message: its time, kind, sender and recipient, and for a reply the row of its call. */
export interface Sample {
  readonly at: number;
  readonly kind: Kind;
  readonly from: number;
  readonly to?: number;
  readonly member?: string;
  readonly call?: number;
  /** The index of the bus; the first bus by default. */
  readonly bus?: number;
  /** Connections that got copies, if known. */
  readonly copies?: readonly number[];
}

/** A call without a reply. */
export function call(at: number, from: number, to: number | undefined, member: string): Sample {
  return { at, kind: Kind.Call, from, member, ...(to === undefined ? {} : { to }) };
}

/** The reply to the call in a row. */
export function reply(at: number, from: number, to: number, call: number): Sample {
  return { at, kind: Kind.Return, from, to, call };
}

/** A signal, and its recipients if known. */
export function signal(at: number, from: number, member: string, copies?: number[]): Sample {
  return { at, kind: Kind.Signal, from, member, ...(copies === undefined ? {} : { copies }) };
}

/** A connection on the first bus, optionally with a name and a process. */
export function peer(id: number, differs: Partial<Peer> = {}): Peer {
  const unique = `:1.${id}`;
  const label = differs.names?.[0] ?? unique;
  const known = { names: [], process: null, arrived: null, left: null, why: null };
  return { id, bus: 0, unique, label, recorder: false, ...known, ...differs };
}

/** A recording of these messages. */
export function recordingOf(samples: readonly Sample[], peers: readonly Peer[] = []): Recording {
  const recording = new Recording();
  add(recording, samples, peers);
  return recording;
}

/** Appends messages to a recording. */
export function add(
  recording: Recording,
  samples: readonly Sample[],
  peers: readonly Peer[] = [],
): void {
  const strings = [...recording.strings];
  const place = (text: string): number => {
    if (!strings.includes(text)) strings.push(text);
    return strings.indexOf(text);
  };
  place("");
  const numbers = (of: (sample: Sample) => number): Uint32Array => Uint32Array.from(samples, of);
  const copies = samples.flatMap((sample) => sample.copies ?? []);
  const first = recording.length;
  const answers = samples.map(({ call }, row) => (call === undefined ? NONE : first + row - call));
  const columns = {
    at: Float64Array.from(samples, ({ at }) => at),
    kind: numbers(({ kind }) => kind),
    bus: numbers(({ bus = 0 }) => bus),
    from: numbers(({ from }) => from),
    to: numbers(({ to }) => to ?? NONE),
    member: numbers(({ member }) => place(member ?? "")),
    answers: Uint32Array.from(answers),
    routed: numbers((sample) => (sample.copies === undefined ? NONE : 1)),
    copies: numbers(({ copies }) => copies?.length ?? 0),
    recipients: Uint32Array.from(copies),
  };
  const head = { strings: strings.slice(recording.strings.length), peers, buses: [BUS] };
  recording.apply(messagesFrame(samples.length, head, columns));
}

const BUS = {
  label: "bus 0",
  address: null,
  method: "unknown",
  redacted: false,
  file: 0,
} as const;

/** The rows of all messages. */
export function allRows({ length }: Recording): Uint32Array {
  return Uint32Array.from({ length }, (_, row) => row);
}

/** A column for each connection, in the order of their first messages. */
export const ALONE: ColumnOptions = {
  grouping: "connection",
  order: "appearance",
  hidden: new Set(),
  merging: { merges: "nothing", expanded: new Set() },
  growth: "complete",
};
