import { expect, test } from "vitest";
import { Flag, Kind, NONE, Recording } from "../model/recording";
import { neighbor, Siblings, siblingsOf } from "./siblings";
import { barOf, barRange, DurationTally } from "./tally";

/** A message: kind, member, time, partner and flags. */
type SiblingRow = readonly [
  kind: Kind,
  member: number,
  at: number,
  partner: number,
  flags?: number,
];

function recordingOf(rows: readonly SiblingRow[]): Recording {
  const recording = new Recording();
  recording.kind.append(Uint8Array.from(rows, ([kind]) => kind));
  recording.member.append(Uint32Array.from(rows, ([, member]) => member));
  recording.interface.append(new Uint32Array(rows.length));
  recording.bus.append(new Uint8Array(rows.length));
  recording.at.append(Float64Array.from(rows, ([, , at]) => at));
  recording.partner.append(Uint32Array.from(rows, ([, , , partner]) => partner));
  recording.flags.append(Uint8Array.from(rows, ([, , , , flags]) => flags ?? 0));
  recording.delivered.append(new Uint32Array(rows.length).fill(NONE));
  recording.length = rows.length;
  return recording;
}

/** Calls of one method with these durations. */
function callsOf(durations: readonly number[]): DurationTally {
  const rows: SiblingRow[] = durations.flatMap((took, call) => [
    [Kind.Call, 1, 0, call * 2 + 1],
    [Kind.Return, 0, took, call * 2],
  ]);
  const tally = new DurationTally(recordingOf(rows));
  for (let call = 0; call < durations.length; call++) tally.add(call * 2);
  return tally;
}

const TALK: SiblingRow[] = [
  [Kind.Call, 1, 0, 1],
  [Kind.Return, 0, 100, 0],
  [Kind.Signal, 1, 150, NONE],
  [Kind.Call, 1, 200, 4],
  [Kind.Error, 9, 900, 3],
  [Kind.Call, 2, 950, NONE],
  [Kind.Call, 1, 1000, NONE],
  [Kind.Call, 1, 1001, NONE, Flag.NoReplyExpected],
];

test("calls of a method are found incrementally as more arrive", () => {
  const recording = recordingOf(TALK);
  recording.length = 4;
  const siblings = new Siblings(recording, 3);
  siblings.advance(3);
  expect([siblings.rows, siblings.isBehind]).toEqual([[0], true]);
  siblings.advance(3);
  expect([siblings.rows, siblings.isBehind]).toEqual([[0, 3], false]);
  recording.length = TALK.length;
  siblings.advance(100);
  expect(siblings.rows).toEqual([0, 3, 6, 7]);
  expect(siblings.placeOf(6)).toBe(2);
});

test("calls of the same method share one result", () => {
  const recording = recordingOf(TALK);
  const siblings = siblingsOf(recording, 0);
  expect(siblingsOf(recording, 6)).toBe(siblings);
  expect(siblingsOf(recording, 5)).not.toBe(siblings);
  expect(siblingsOf(recordingOf(TALK), 5)).not.toBe(siblingsOf(recording, 5));
});

test.each<[number, 1 | -1, number | undefined]>([
  [0, 1, 3],
  [3, 1, 6],
  [7, 1, undefined],
  [6, -1, 3],
  [0, -1, undefined],
  [5, 1, undefined],
])("the neighbor of call %d in steps of %d is %s", (row, step, expected) => {
  expect(neighbor(recordingOf(TALK), row, step)).toBe(expected);
});

test("outcomes of calls are counted, even if a reply arrives later", () => {
  const recording = recordingOf(TALK);
  const siblings = new Siblings(recording, 0);
  siblings.advance(TALK.length);
  const { tally } = siblings;
  const outcomes = () => [tally.answered, tally.failed, tally.unanswered, tally.slowest];
  expect(outcomes()).toEqual([2, 1, 1, [3, 0]]);
  recording.partner.set(6, 4);
  tally.checkOpen();
  expect(outcomes()).toEqual([3, 2, 0, [3, 0, 6]]);
});

test("the five slowest of many calls are listed", () => {
  expect(callsOf([5, 1, 9, 9, 2, 7, 3]).slowest).toEqual([4, 6, 10, 0, 12]);
});

test.each<[number[], number[]]>([
  [[5, 5], [2]],
  [
    [1, 1024],
    [1, ...Array(21).fill(0), 1],
  ],
  [
    [0, 3600e9],
    [1, ...Array(22).fill(0), 1],
  ],
])("the histogram of %j is %j", (durations, expected) => {
  expect(callsOf(durations).histogram?.counts).toEqual(expected);
});

test.each([[[]], [[5]]])("durations %j have no histogram", (durations) => {
  expect(callsOf(durations).histogram).toBeUndefined();
});

test("the range of a bar includes its durations", () => {
  const durations = [3, 17, 90, 1234, 99_999, 5e6];
  const { histogram } = callsOf(durations);
  if (histogram === undefined) throw new Error("no bars");
  for (const duration of durations) {
    const [from, to] = barRange(histogram, barOf(histogram, duration));
    expect([from <= duration, duration < to]).toEqual([true, true]);
  }
  expect([barOf(histogram, 1), barOf(histogram, 1e12)]).toEqual([0, histogram.counts.length - 1]);
});
