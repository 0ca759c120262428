import { expect, test } from "vitest";
import type { Numbers } from "../format/frame";
import type { ColumnName, MessagesHead } from "../generated/protocol";
import { add, call, recordingOf, reply, signal } from "../sequence/model/sample";
import { NONE, Recording } from "./recording";
import { messagesFrame } from "./testing";

test("a reply in a later frame is linked to its call", () => {
  const recording = recordingOf([call(0, 1, undefined, "Get"), signal(1, 3, "Changed")]);
  expect([recording.partnerOf(0), recording.to.get(0)]).toEqual([NONE, NONE]);
  add(recording, [reply(5, 2, 1, 0)]);
  expect([0, 1, 2].map((row) => recording.partnerOf(row))).toEqual([2, NONE, 0]);
  expect([recording.to.get(0), recording.durationOf(0), recording.end]).toEqual([2, 5, 5]);
});

test("recipients belong to their message in every frame", () => {
  const recording = recordingOf([signal(0, 1, "Changed", [2, 3]), signal(1, 1, "Changed", [])]);
  add(recording, [signal(2, 1, "Changed", [4]), signal(3, 1, "Changed", [2, 5])]);
  const found = [0, 1, 2, 3].map((row) => [...recording.recipientsOf(row)]);
  expect(found).toEqual([[2, 3], [], [4], [2, 5]]);
});

test.each<[{ at?: number }, Partial<Record<ColumnName, Numbers>>, number[]]>([
  [{}, { at: Float64Array.of(0, 9e9) }, [0, 9e9]],
  [{ at: 7 }, { step: Int8Array.of(0, 3, 0, 100) }, [7, 10, 10, 110]],
  [{ at: 2 ** 40 }, { step: Uint32Array.of(0, 4e9) }, [2 ** 40, 2 ** 40 + 4e9]],
])("times of a head %o", (head, times, expected) => {
  const recording = new Recording();
  recording.apply(messagesFrame(expected.length, head, times));
  expect([...recording.at.slice(0, expected.length)]).toEqual(expected);
});

test.each<[Partial<Record<ColumnName, Numbers>>, string]>([
  [{ kind: Int8Array.of(1, 1) }, "the column kind has 2 rows instead of 1"],
  [{ step: Int8Array.of() }, "the column step has 0 rows instead of 1"],
  [{ copies: Int8Array.of(2) }, "the frame has 0 recipients for 2 copies"],
])("inconsistent columns are rejected: %o", (columns, problem) => {
  expect(() => new Recording().apply(messagesFrame(1, {}, columns))).toThrow(problem);
});

test("times that exceed 32 bits are read from the head", () => {
  const recording = recordingOf([call(0, 1, undefined, "Get")]);
  const head: Partial<MessagesHead> = { total: 2, at: 5, long: [["delivered", 0, 6e9]] };
  const columns = {
    step: Int8Array.of(0),
    kind: Int8Array.of(2),
    answers: Int8Array.of(1),
    delivered: Int8Array.of(-2),
  };
  recording.apply(messagesFrame(1, head, columns));
  expect([recording.delivered.get(1), recording.durationOf(0)]).toEqual([6e9, 6e9 + 5]);
});
