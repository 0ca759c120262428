import { expect, test } from "vitest";
import { columnFacts, messageFacts, receiverOf, runFacts, sentenceOf } from "./describe";
import { ALONE, allRows, call, peer, recordingOf, reply, signal } from "./sample";
import { sceneOf } from "./scene";

const RECORDING = recordingOf(
  [
    call(0, 1, 2, "Get"),
    reply(1_500_000, 2, 1, 0),
    call(2_000_000, 1, undefined, "Get"),
    signal(3_000_000, 2, "Changed", []),
    signal(3_000_000, 2, "Changed", [1, 2]),
    signal(3_000_000, 2, "Evil\u202e\nName"),
    signal(3_000_000, 2, "Evil\u202e\nName"),
    signal(3_000_000, 2, "Evil\u202e\nName"),
    signal(3_000_000, 2, "Evil\u202e\nName"),
    signal(5_000_000, 2, "Evil\u202e\nName"),
  ],
  [peer(1), peer(2, { names: ["org.example.Mail"], left: 7, why: "it sent\u0007too much" })],
);

const NO_FOLDING = { folds: "nothing", unfolded: new Set<number>() } as const;

test.each([
  [0, "call Get, from :1.1, to org.example.Mail, 1.50 ms"],
  [1, "return Get, from org.example.Mail, to :1.1, 1.50 ms"],
  [5, "signal Evil\\u202E\\nName, from org.example.Mail, to all subscribers"],
])("row %d in words is %s", (row, expected) => {
  expect(sentenceOf(RECORDING, row)).toBe(expected);
});

test.each([
  [3, "no recipient: no match rule selects it"],
  [4, "2 connections"],
])("row %d goes to %s", (row, expected) => {
  expect(receiverOf(RECORDING, row)).toBe(expected);
});

test("facts format times consistently and show control characters", () => {
  const scene = sceneOf(RECORDING, allRows(RECORDING), NO_FOLDING, ALONE);
  expect(messageFacts(scene, 0)).toContainEqual(["at", "0.000\u2009000 s"]);
  expect(messageFacts(scene, 0)).toContainEqual(["duration", "1.50 ms"]);
  expect(messageFacts(scene, 2)).toContainEqual(["outcome", "no reply for 3.00 ms"]);
  const column = { peers: [RECORDING.peers[2] ?? peer(2)], bus: 0, messages: 3 };
  expect(columnFacts(RECORDING, column)).toEqual([
    ["names", "org.example.Mail"],
    ["connection", ":1.2"],
    ["left", "0.000\u2009000 s: it sent\\u0007too much"],
    ["messages", "3"],
  ]);
});

test("a group reports the number of its messages and their time", () => {
  const folding = { folds: "runs", unfolded: new Set<number>() } as const;
  const facts = runFacts(sceneOf(RECORDING, allRows(RECORDING), folding, ALONE), 5);
  expect(facts[0]).toEqual(["run", "5 messages of Evil\\u202E\\nName, one after the other"]);
  expect(facts[1]).toEqual(["in", "2.00 ms"]);
});
