import { expect, test } from "vitest";
import { Flag, Kind, NONE, Recording } from "../model/recording";
import { barOf, barRange, durationsOf, histogramOf, neighbour, Siblings } from "./siblings";

/** A message: kind, member, time, its partner. */
type Row = readonly [kind: Kind, member: number, at: number, partner: number, flags?: number];

function recordingOf(rows: readonly Row[]): Recording {
  const recording = new Recording();
  recording.kind.append(Uint8Array.from(rows, ([kind]) => kind));
  recording.member.append(Uint32Array.from(rows, ([, member]) => member));
  recording.interface.append(new Uint32Array(rows.length));
  recording.bus.append(new Uint8Array(rows.length));
  recording.at.append(Float64Array.from(rows, ([, , at]) => at));
  recording.partner.append(Uint32Array.from(rows, ([, , , partner]) => partner));
  recording.flags.append(Uint8Array.from(rows, ([, , , , flags]) => flags ?? 0));
  recording.length = rows.length;
  return recording;
}

const TALK: Row[] = [
  [Kind.Call, 1, 0, 1],
  [Kind.Return, 0, 100, 0],
  [Kind.Signal, 1, 150, NONE],
  [Kind.Call, 1, 200, 4],
  [Kind.Error, 9, 900, 3],
  [Kind.Call, 2, 950, NONE],
  [Kind.Call, 1, 1000, NONE],
  [Kind.Call, 1, 1001, NONE, Flag.NoReplyExpected],
];

test("calls of a method are found, also when more come", () => {
  const recording = recordingOf(TALK);
  recording.length = 4;
  const siblings = new Siblings(recording, 3);
  siblings.update();
  expect(siblings.rows).toEqual([0, 3]);
  recording.length = TALK.length;
  siblings.update();
  expect(siblings.rows).toEqual([0, 3, 6, 7]);
  expect(siblings.placeOf(6)).toBe(2);
  expect([0, 2, 5].map((row) => siblings.has(recording, row))).toEqual([true, false, false]);
  expect(siblings.has(new Recording(), 0)).toBe(false);
});

test.each<[number, 1 | -1, number | undefined]>([
  [0, 1, 3],
  [3, 1, 6],
  [7, 1, undefined],
  [6, -1, 3],
  [0, -1, undefined],
  [5, 1, undefined],
])("beside the call %d in steps of %d is %s", (row, step, expected) => {
  expect(neighbour(recordingOf(TALK), row, step)).toBe(expected);
});

test("what became of them is counted", () => {
  const { histogram, ...told } = durationsOf(recordingOf(TALK), [0, 3, 6, 7]);
  expect(told).toEqual({ answered: 2, failed: 1, unanswered: 1, slowest: [3, 0] });
  expect([histogram?.min, histogram?.max]).toEqual([100, 700]);
});

test("of many calls the five slowest are told", () => {
  const calls = [5, 1, 9, 9, 2, 7, 3];
  const rows: Row[] = calls.flatMap((took, call) => [
    [Kind.Call, 1, 0, call * 2 + 1],
    [Kind.Return, 0, took, call * 2],
  ]);
  const found = durationsOf(recordingOf(rows), [0, 2, 4, 6, 8, 10, 12]);
  expect(found.slowest).toEqual([4, 6, 10, 0, 12]);
});

test.each<[number[], number[]]>([
  [[5], [1, 0, 0]],
  [
    [5, 5],
    [2, 0, 0],
  ],
  [
    [1, 10, 100, 1000],
    [1, 1, 2],
  ],
  [
    [0, 1000],
    [1, 0, 1],
  ],
])("durations %j in three bars are %j", (durations, expected) => {
  expect(histogramOf(Float64Array.from(durations), 3)?.counts).toEqual(expected);
});

test("bars have ranges, and durations are in theirs", () => {
  const histogram = { min: 10, max: 10_000, counts: [0, 0, 0] };
  expect(barRange(histogram, 1).map(Math.round)).toEqual([100, 1000]);
  expect([1, 10, 99, 101, 10_000, 1e9].map((ns) => barOf(histogram, ns))).toEqual([
    0, 0, 0, 1, 2, 2,
  ]);
  expect(histogramOf(new Float64Array(0), 3)).toBeUndefined();
});
