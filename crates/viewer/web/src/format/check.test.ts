import { expect, test } from "vitest";
import { checked } from "./check";

const PEER = {
  id: 0,
  bus: 0,
  unique: ":1.5",
  names: ["a.b"],
  label: "a.b",
  process: null,
  arrived: -3,
  left: null,
  why: null,
  recorder: false,
};
const MESSAGES = {
  kind: "messages",
  first: 0,
  count: 0,
  total: 0,
  start_ns: "0",
  first_string: 0,
  strings: ["", "x"],
  peers: [PEER],
  files: [],
  buses: [],
};

test.each([
  [MESSAGES],
  [{ ...MESSAGES, at: 0.5, long: [["routed", 1, 2]], more: "unknown members are ignored" }],
  [{ kind: "end", why: null }],
  [{ kind: "refusal", message: "no" }],
  [{ kind: "answer", answer: { without: { query: null, hidden: 1, time: 0 } } }],
])("%j is accepted as a head", (head) => {
  expect(checked("FrameHead", head)).toBe(head);
});

test.each([
  [null, ".kind: expected hello or"],
  [{ kind: "unknown" }, ".kind: expected hello or"],
  [{ kind: "toString" }, ".kind: expected hello or"],
  [{ kind: "reset" }, ".before: expected a whole number"],
  [{ kind: "reset", before: -1 }, ".before: expected a whole number"],
  [{ kind: "end", why: 3 }, ".why: expected"],
  [{ ...MESSAGES, strings: ["", 3] }, ".strings[1]: expected a string"],
  [{ ...MESSAGES, peers: [{ ...PEER, names: "a.b" }] }, ".peers[0].names: expected a list"],
  [{ ...MESSAGES, long: [["routed", 1]] }, ".long[0]: expected a list of 3"],
  [{ ...MESSAGES, long: [["other", 1, 2]] }, ".long[0][0]: expected step or"],
  [{ kind: "answer", answer: {} }, ".answer: expected one of select, without"],
  [{ kind: "answer", answer: { other: 1 } }, ".answer: expected one of select, without"],
  [
    { kind: "answer", answer: { ending: { incomplete: [1] } } },
    ".answer.ending.incomplete[0]: exp",
  ],
])("%j is rejected with %s", (head, fault) => {
  expect(() => checked("FrameHead", head)).toThrow(`not a valid FrameHead: ${fault}`);
});

test("the reported fault is in the best matching alternative", () => {
  const reply = { answer: { names: [{ name: "a.b", is_activatable: 1 }] }, types: {} };
  const fault = ".answer.names[0].is_activatable: expected a boolean";
  expect(() => checked("ReplyBusAnswer", reply)).toThrow(fault);
});
