import { expect, test } from "vitest";
import { Kind, NONE, type Recording } from "../../model/recording";
import { call, peer, type Sample, signal } from "../../sequence/model/sample";
import { identityOf } from "./identity";
import { pairUp } from "./pairing";
import { pairsOf } from "./pairs";
import { BEFORE_AND_AFTER, bothOf, replyTo } from "./sample";

const MAIL = 1;
const OTHER = 2;

async function counterparts(recording: Recording): Promise<(number | undefined)[]> {
  const paired = await pairUp(recording, BEFORE_AND_AFTER, new AbortController().signal);
  return [...(paired?.counterparts ?? [])].map((row) => (row === NONE ? undefined : row));
}

const get = (at: number, member = "Get", to = MAIL): Sample => call(at, 0, to, member);
const NO = undefined;

test.each<[string, Sample[], Sample[], (number | undefined)[]]>([
  ["nothing", [], [], []],
  ["a call and the same", [get(0)], [get(9)], [1, 0]],
  ["another method", [get(0)], [get(0, "Set")], [NO, NO]],
  ["another service", [get(0)], [get(0, "Get", OTHER)], [NO, NO]],
  [
    "the first and the first, the second and the second",
    [get(0), get(1)],
    [get(2), get(3)],
    [2, 3, 0, 1],
  ],
  ["more before", [get(0), get(1)], [get(2)], [2, NO, 0]],
  ["another order", [get(0), get(1, "Set")], [get(2, "Set"), get(3)], [3, 2, 1, 0]],
  ["a signal and a call of the same name", [signal(0, MAIL, "Get")], [get(0)], [NO, NO]],
  [
    "signals of a service",
    [signal(0, MAIL, "A")],
    [signal(0, OTHER, "A"), signal(1, MAIL, "A")],
    [2, NO, 0],
  ],
  [
    "replies as their calls",
    [get(0), replyTo(1, MAIL, 0)],
    [get(0), replyTo(7, MAIL, 0)],
    [2, 3, 0, 1],
  ],
  ["a reply that is missing", [get(0), replyTo(1, MAIL, 0)], [get(0)], [2, NO, 0]],
  [
    "an error for a return",
    [get(0), replyTo(1, MAIL, 0)],
    [get(0), { ...replyTo(7, MAIL, 0), kind: Kind.Error }],
    [2, 3, 0, 1],
  ],
  ["a call of the recorder", [call(0, 3, MAIL, "Get"), get(1)], [get(0)], [NO, 2, 1]],
  ["a name without an owner", [call(0, 0, NO, "Get")], [call(0, 0, NO, "Get")], [1, 0]],
])("pairs of messages: %s", async (_, before, after, expected) => {
  expect(await counterparts(bothOf(before, after))).toEqual(expected);
});

test("aborted pairing has no result", async () => {
  const aborted = AbortSignal.abort();
  expect(await pairUp(bothOf([get(0)], [get(0)]), BEFORE_AND_AFTER, aborted)).toBeUndefined();
});

test("each side has the times of its first and last message", async () => {
  const recording = bothOf([get(5), get(7)], [get(100)]);
  const paired = await pairUp(recording, BEFORE_AND_AFTER, new AbortController().signal);
  expect(paired?.extents).toEqual([
    { from: 5, until: 7 },
    { from: 100, until: 100 },
  ]);
});

const PROCESS = { pid: 1, uid: 0, program: "poller", exe: null, command: [], unit: null };

test.each([
  [peer(1, { names: ["org.example.Mail", "org.example.Archive"] }), "org.example.Archive"],
  [peer(1, { process: PROCESS }), "poller"],
  [peer(1), ":1.1"],
  [peer(1, { unique: "org.freedesktop.DBus", process: PROCESS }), "org.freedesktop.DBus"],
])("%o is identified as %s", (one, expected) => {
  expect(identityOf(one)).toBe(expected);
});

test("visible messages of both sides are listed with their counterparts", () => {
  const found = pairsOf(Uint32Array.from([3, NONE, 4, 0, 2]), [0, 1], [3, 4]);
  expect(found).toEqual([
    { before: 0, after: 3 },
    { before: 1, after: NONE },
    { before: 2, after: 4 },
  ]);
});
