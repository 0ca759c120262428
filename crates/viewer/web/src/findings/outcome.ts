// The outcome of a call in a few words.

import { Flag, Kind, NONE, type Recording } from "../model/recording";
import { duration } from "../parts/format";

/** The outcome of a call: `601 ms`, `error after 3.00 ms`, `no reply`; empty for signals. */
export function outcomeOf(recording: Recording, row: number): string {
  const call = recording.callOf(row);
  if (call === NONE) return "";
  const reply = recording.partnerOf(call);
  if (reply === NONE) {
    const isExpected = (recording.flags.get(call) & Flag.NoReplyExpected) === 0;
    return isExpected ? "no reply" : "no reply expected";
  }
  const length = recording.durationOf(call);
  const time = length === undefined ? "" : duration(length);
  return recording.kind.get(reply) === Kind.Error ? `error after ${time}` : time;
}
