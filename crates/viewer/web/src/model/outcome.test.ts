import { expect, test } from "vitest";
import type { Peer } from "../generated/protocol";
import { add, call, peer, recordingOf, reply, type Sample } from "../sequence/model/sample";
import { isFailure, isUnanswered, type Outcome, outcomeOf, paceOf } from "./outcome";
import { Flag, Kind, type Recording } from "./recording";

const BUS = peer(0, { unique: "org.freedesktop.DBus" });
const NO_REPLY = "org.freedesktop.DBus.Error.NoReply";

function error(at: number, from: number, to: number, of: number, member: string): Sample {
  return { at, kind: Kind.Error, from, to, call: of, member };
}

/** A call from peer 1 to peer 2, the messages after it, and a last message after one second. */
function recorded(after: readonly Sample[], peers: readonly Partial<Peer>[] = []): Recording {
  const [caller = {}, callee = {}] = peers;
  const recording = recordingOf([call(0, 1, 2, "Get")], [BUS, peer(1, caller), peer(2, callee)]);
  add(recording, [...after, call(1e9, 2, 0, "Ping")]);
  return recording;
}

test.each<[string, Recording, Outcome]>([
  ["a return", recorded([reply(5, 2, 1, 0)]), { ending: "returned", waited: 5 }],
  [
    "an error of the service",
    recorded([error(5, 2, 1, 0, "org.example.Broken")]),
    { ending: "failed", waited: 5 },
  ],
  [
    "a timeout error forwarded by a service",
    recorded([error(5, 2, 1, 0, NO_REPLY)]),
    { ending: "failed", waited: 5 },
  ],
  [
    "a NoReply error of the bus",
    recorded([error(5, 0, 1, 0, NO_REPLY)]),
    { ending: "timed-out", waited: 5 },
  ],
  [
    "a NoReply error of the bus after the service left",
    recorded([error(5, 0, 1, 0, NO_REPLY)], [{}, { left: 4 }]),
    { ending: "callee-left", waited: 5 },
  ],
  [
    "another error of the bus",
    recorded([error(5, 0, 1, 0, "org.freedesktop.DBus.Error.AccessDenied")]),
    { ending: "failed", waited: 5 },
  ],
  ["no reply", recorded([]), { ending: "waiting", waited: 1e9 }],
  [
    "no reply until the caller left",
    recorded([], [{ left: 7e8 }]),
    { ending: "caller-left", waited: 7e8 },
  ],
  [
    "a return after the caller had left",
    recorded([reply(9, 2, 1, 0)], [{ left: 7 }]),
    { ending: "caller-left", waited: 7 },
  ],
])("%s", (_, recording, expected) => {
  expect(outcomeOf(recording, 0)).toEqual(expected);
});

test("a call that asks for no reply does not wait for one, even if its caller leaves", () => {
  const recording = recorded([], [{ left: 7 }]);
  recording.flags.set(0, Flag.NoReplyExpected);
  expect(outcomeOf(recording, 0)).toEqual({ ending: "no-reply-expected", waited: undefined });
});

test.each([
  ["waiting", true, false],
  ["caller-left", true, false],
  ["timed-out", false, true],
  ["callee-left", false, true],
  ["failed", false, true],
  ["returned", false, false],
] as const)("%s", (ending, unanswered, failed) => {
  const outcome = { ending, waited: 1 };
  expect([isUnanswered(outcome), isFailure(outcome)]).toEqual([unanswered, failed]);
});

test.each([
  [undefined, "quick"],
  [99_999_999, "quick"],
  [100_000_000, "slow"],
  [1_000_000_000, "very-slow"],
])("a call of %s ns is %s", (nanos, expected) => {
  expect(paceOf(nanos)).toBe(expected);
});
