import { expect, test } from "vitest";
import { Kind } from "../../model/recording";
import { type Folding, type Lines, lineOf, linesOf, spanOf } from "./runs";
import { add, allRows, call, recordingOf, reply, type Sample, signal } from "./sample";

const FOLDED: Folding = { folds: "runs", unfolded: new Set() };

function spans(lines: Lines): number[] {
  return Array.from({ length: lines.count }, (_, line) => spanOf(lines, line));
}

const burst = (count: number, member = "Changed"): Sample[] =>
  Array.from({ length: count }, (_, at) => signal(at, 1, member));

/** Calls with their replies; each call follows the reply to the one before. */
const polling = (count: number): Sample[] =>
  Array.from({ length: count }, (_, at) => [
    call(2 * at, 1, 2, "Get"),
    reply(2 * at + 1, 2, 1, 2 * at),
  ]).flat();

test.each<[string, Sample[], number[]]>([
  ["nothing", [], []],
  ["four of a kind", burst(4), [1, 1, 1, 1]],
  ["five of a kind", burst(5), [5]],
  ["two members", [...burst(5), ...burst(6, "Removed")], [5, 6]],
  ["a stranger between", [...burst(3), call(3, 1, 2, "Get"), ...burst(3)], [1, 1, 1, 1, 1, 1, 1]],
  ["another sender", [...burst(5), signal(9, 2, "Changed")], [5, 1]],
  ["calls and their replies", polling(3), [6]],
  ["an error between", [...burst(4), { at: 5, kind: Kind.Error, from: 1 }], [1, 1, 1, 1, 1]],
  ["errors", Array(5).fill({ at: 0, kind: Kind.Error, from: 1 }), [1, 1, 1, 1, 1]],
])("%s folds", (_, samples, expected) => {
  const recording = recordingOf(samples);
  expect(spans(linesOf(recording, allRows(recording), FOLDED))).toEqual(expected);
});

test("an unfolded group has a line for each message, and its size", () => {
  const recording = recordingOf([call(0, 1, 2, "Get"), ...burst(5)]);
  const unfolded: Folding = { folds: "runs", unfolded: new Set([1]) };
  const lines = linesOf(recording, allRows(recording), unfolded);
  expect(spans(lines)).toEqual([1, 1, 1, 1, 1, 1]);
  expect([...lines.run]).toEqual([0, 5, 0, 0, 0, 0]);
  const nothing = linesOf(recording, allRows(recording), { ...unfolded, folds: "nothing" });
  expect([...nothing.run]).toEqual([0, 0, 0, 0, 0, 0]);
});

test.each([0, 1, 4, 5, 7, 12])(
  "lines gone on with after %d messages are as made at once",
  (kept) => {
    const samples = [...burst(7), call(8, 1, 2, "Get"), ...burst(6)];
    const recording = recordingOf(samples.slice(0, kept));
    const before = linesOf(recording, allRows(recording), FOLDED);
    add(recording, samples.slice(kept));
    const rows = allRows(recording);
    expect(linesOf(recording, rows, FOLDED, before, kept)).toEqual(
      linesOf(recording, rows, FOLDED),
    );
  },
);

test("each position is in exactly one line", () => {
  const recording = recordingOf([call(0, 1, 2, "Get"), ...burst(5), call(9, 1, 2, "Get")]);
  const lines = linesOf(recording, allRows(recording), FOLDED);
  const found = [0, 1, 2, 3, 4, 5, 6].map((place) => lineOf(lines, place));
  expect(found).toEqual([0, 1, 1, 1, 1, 1, 2]);
});
