// How calls ended, and how long their callers waited. The program says the same of a call, except where it
// reads the text of an error: crates/capture/src/model/outcome.rs.

import { Flag, Health, Kind, NONE, type Recording } from "./recording";

/** How a call ended. */
export type Ending =
  | "returned"
  | "failed"
  /** The bus replied in the callee's place, because the callee had not replied in time. */
  | "timed-out"
  /** The bus replied in the callee's place, because the callee had disconnected. */
  | "callee-left"
  /** The caller disconnected before there was a reply. */
  | "caller-left"
  /** The caller was still waiting when the recording ended. */
  | "waiting"
  /** A header that was cut hides how the call ended. */
  | "unknown"
  | "no-reply-expected";

/** How a call ended, and how long its caller waited in nanoseconds; undefined if that is not known. */
export interface Outcome {
  readonly ending: Ending;
  readonly waited: number | undefined;
}

/** How the call in a row ended. */
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

/** How a call ended that has no reply. */
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

/** Whether the caller expected a reply and received none. */
export function isUnanswered({ ending }: Outcome): boolean {
  return ending === "waiting" || ending === "caller-left";
}

/** Whether the call did not get what it asked for. */
export function isFailure({ ending }: Outcome): boolean {
  return ending === "failed" || ending === "timed-out" || ending === "callee-left";
}

/** How long a call takes, as people judge it. */
export type Pace = "quick" | "slow" | "very-slow";

/** Nanoseconds from which on a call is slow, and very slow. */
export const SLOW = 100e6;
export const VERY_SLOW = 1e9;

/** Whether a call that takes so many nanoseconds is slow. */
export function paceOf(nanos: number | undefined): Pace {
  if (nanos === undefined || nanos < SLOW) return "quick";
  return nanos < VERY_SLOW ? "slow" : "very-slow";
}

/** Endings in words. */
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

/** When the caller disconnected, if that was after it had sent the call. */
function departureOf(recording: Recording, call: number): number | undefined {
  const left = recording.peers[recording.from.get(call)]?.left ?? undefined;
  return left !== undefined && recording.at.get(call) <= left ? left : undefined;
}

function endingOf(recording: Recording, call: number, reply: number): Ending {
  if (recording.kind.get(reply) !== Kind.Error) return "returned";
  // A service may pass on such an error of a call of its own. Then it has replied itself.
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
  return left !== undefined && left <= recording.at.get(reply) + READING;
}

/** A recorder reads the error and the signal about the same departure at most this far apart. */
const READING = 100e6;

/** The name of the bus itself. */
const DRIVER = "org.freedesktop.DBus";
