// Results of calls, and how long callers waited. The rules are the same as in
// crates/capture/src/model/outcome.rs, except where that code reads the text of an error.

import { Flag, Health, Kind, NONE, type Recording } from "./recording";

/** The way in which a call ended. */
export type Ending =
  | "returned"
  | "failed"
  /** The bus replied because the callee had not replied in time. */
  | "timed-out"
  /** The bus replied because the callee had disconnected. */
  | "callee-left"
  /** The caller disconnected before a reply arrived. */
  | "caller-left"
  /** The caller was still waiting when the recording ended. */
  | "waiting"
  /** A truncated header hides how the call ended. */
  | "unknown"
  | "no-reply-expected";

/**
 * The end of a call, and how long its caller waited in nanoseconds; undefined if that is unknown.
 */
export interface Outcome {
  readonly ending: Ending;
  readonly waited: number | undefined;
}

/** Determines how the call in a row ended. */
export function outcomeOf(recording: Recording, call: number): Outcome {
  const at = recording.at.get(call);
  const reply = recording.partnerOf(call);
  const left = departureOf(recording, call);
  if (reply === NONE) return unansweredOf(recording, call, left);
  if (left !== undefined && left < recording.at.get(reply)) {
    return { ending: "caller-left", waited: left - at };
  }
  return { ending: endingOf(recording, call, reply), waited: recording.durationOf(call) };
}

/** The outcome of a call without a reply. */
function unansweredOf(recording: Recording, call: number, left: number | undefined): Outcome {
  const at = recording.at.get(call);
  if ((recording.flags.get(call) & Flag.NoReplyExpected) !== 0) {
    return { ending: "no-reply-expected", waited: undefined };
  }
  if (recording.health.get(call) === Health.HeaderCut) {
    return { ending: "unknown", waited: undefined };
  }
  if (left !== undefined) return { ending: "caller-left", waited: left - at };
  return { ending: "waiting", waited: recording.end - at };
}

/** True if the caller expected a reply and did not receive one. */
export function isUnanswered({ ending }: Outcome): boolean {
  return ending === "waiting" || ending === "caller-left";
}

/** True if the call failed: with an error, a timeout, or because the callee disconnected. */
export function isFailure({ ending }: Outcome): boolean {
  return ending === "failed" || ending === "timed-out" || ending === "callee-left";
}

/** A classification of a call's duration. */
export type Pace = "quick" | "slow" | "very-slow";

/** The durations in nanoseconds at which a call counts as slow and very slow. */
export const SLOW = 100e6;
export const VERY_SLOW = 1e9;

/** Classifies a duration in nanoseconds. An unknown duration counts as quick. */
export function paceOf(nanos: number | undefined): Pace {
  if (nanos === undefined || nanos < SLOW) return "quick";
  return nanos < VERY_SLOW ? "slow" : "very-slow";
}

/** Labels for the ways in which a call can end. */
export const ENDING_WORDS: Readonly<Record<Ending, string>> = {
  returned: "returned",
  failed: "error",
  "timed-out": "timed out",
  "callee-left": "service left",
  "caller-left": "caller left",
  waiting: "no reply",
  unknown: "reply not recorded",
  "no-reply-expected": "no reply expected",
};

/** The time at which the caller disconnected, if that was after the call. */
function departureOf(recording: Recording, call: number): number | undefined {
  const left = recording.peers[recording.from.get(call)]?.left ?? undefined;
  return left !== undefined && recording.at.get(call) <= left ? left : undefined;
}

function endingOf(recording: Recording, call: number, reply: number): Ending {
  if (recording.kind.get(reply) !== Kind.Error) return "returned";
  // A service can forward the bus's error for a call of its own. In that case the service itself
  // replied.
  if (recording.peers[recording.from.get(reply)]?.unique !== DRIVER) return "failed";
  switch (recording.text(recording.member.get(reply))) {
    case "org.freedesktop.DBus.Error.NoReply":
      return hasCalleeLeft(recording, call, reply) ? "callee-left" : "timed-out";
    case "org.freedesktop.DBus.Error.Timeout":
    case "org.freedesktop.DBus.Error.TimedOut":
      return "timed-out";
    default:
      return "failed";
  }
}

function hasCalleeLeft(recording: Recording, call: number, reply: number): boolean {
  const left = recording.peers[recording.to.get(call)]?.left ?? undefined;
  return left !== undefined && left <= recording.at.get(reply) + DEPARTURE_SKEW;
}

/**
 * The maximum delay in nanoseconds between the error reply for a disconnected callee and the signal
 * about its departure.
 */
const DEPARTURE_SKEW = 100e6;

/** The well-known name of the bus itself. */
const DRIVER = "org.freedesktop.DBus";
