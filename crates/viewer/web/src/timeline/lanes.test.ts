import { expect, test } from "vitest";
import type { TrackLanes } from "./lanes";
import { finished, orderOf } from "./sorting";
import { lanesOf } from "./testing";

/** The rows of each lane. */
function rowsOf(lanes: TrackLanes): number[][] {
  return Array.from({ length: lanes.count }, (_, lane) =>
    Array.from(lanes.row.subarray(lanes.startOf(lane), lanes.startOf(lane + 1))),
  );
}

test.each<[string, [number, number][], number | undefined, number[][]]>([
  ["nothing", [], undefined, []],
  [
    "one after the other",
    [
      [0, 10],
      [10, 20],
      [30, 40],
    ],
    undefined,
    [[0, 1, 2]],
  ],
  [
    "overlapping",
    [
      [0, 10],
      [2, 4],
      [3, 5],
      [4, 6],
      [10, 12],
    ],
    undefined,
    [[0, 4], [1, 3], [2]],
  ],
  [
    "in another order",
    [
      [30, 40],
      [0, 35],
      [5, 10],
    ],
    undefined,
    [[1], [2, 0]],
  ],
  [
    "more than there are lanes",
    [
      [0, 10],
      [1, 3],
      [2, 5],
      [4, 6],
      [20, 30],
    ],
    2,
    [[0, 4], [1]],
  ],
  [
    "points",
    [
      [5, 5],
      [5, 5],
      [7, 7],
    ],
    1,
    [[0, 1, 2]],
  ],
])("spans that are %s", (_, spans, most, expected) => {
  expect(rowsOf(lanesOf(spans, most))).toEqual(expected);
});

test("merged spans in the last lane end with the last one", () => {
  const lanes = lanesOf(
    [
      [0, 10],
      [1, 3],
      [2, 5],
      [4, 6],
    ],
    2,
  );
  expect(Array.from(lanes.until)).toEqual([10, 6]);
});

test.each<[number, number, string]>([
  // Nanoseconds of the range on 100 pixels, and the drawn spans: rows and pixels.
  [0, 100, "0-1 at 0 to 10, 1-2 at 20 to 30, 2-3 at 50 to 50.5, 3-4 at 99 to 105"],
  [0, 4000, "0-3 at 0 to 1.3, 3-4 at 2.5 to 2.625"],
  [0, 400, "0-1 at 0 to 2.5, 1-2 at 5 to 7.5, 2-3 at 12.5 to 12.625, 3-4 at 24.75 to 26.25"],
  [25, 60, "1-2 at -14.3 to 14.3, 2-3 at 71.4 to 72.9"],
  [60, 90, ""],
])("from %d to %d is seen", (from, until, expected) => {
  const lanes = lanesOf([
    [0, 10],
    [20, 30],
    [50, 50.5],
    [99, 105],
  ]);
  const seen: string[] = [];
  lanes.visit(0, { from, until, width: 100 }, (first, end, left, right) => {
    const round = (x: number): number => (Number.isInteger(x * 8) ? x : Math.round(x * 10) / 10);
    seen.push(`${first}-${end} at ${round(left)} to ${round(right)}`);
  });
  expect(seen.join(", ")).toBe(expected);
});

test("narrow spans are drawn together, but not with wide ones", () => {
  const narrow = Array.from({ length: 1000 }, (_, n): [number, number] => [n, n + 0.5]);
  const lanes = lanesOf([...narrow, [1000, 1100], [1100.2, 1100.4]]);
  const seen: [number, number][] = [];
  lanes.visit(0, { from: 0, until: 2000, width: 200 }, (first, end) => seen.push([first, end]));
  expect(seen).toEqual([
    [0, 1000],
    [1000, 1001],
    [1001, 1002],
  ]);
});

test("prefix sums give the density and errors of a range", () => {
  const lanes = lanesOf([
    [0, 10],
    [20, -30],
    [90, 100],
  ]);
  expect(lanes.density(0, 3)).toBeCloseTo(0.3);
  expect(lanes.density(1, 2)).toBe(1);
  expect(lanes.errorsIn(0, 3)).toBe(1);
  expect(lanes.errorsIn(2, 3)).toBe(0);
});

test("errors are found among merged spans", () => {
  const spans = Array.from({ length: 1000 }, (_, n): [number, number] => {
    const isError = n === 0 || n === 500 || n === 501 || n === 999;
    return [n, isError ? -(n + 0.5) : n + 0.5];
  });
  const lanes = lanesOf(spans);
  const seen: number[] = [];
  lanes.visitErrors(0, 1000, { from: 0, until: 1000, width: 100 }, (x) => seen.push(x));
  expect(seen).toEqual([0, 50, 99.9]);
  lanes.visitErrors(1, 500, { from: 0, until: 1000, width: 100 }, () => {
    throw new Error("there is none");
  });
});

test("a span is found by its message", () => {
  const lanes = lanesOf([
    [0, 10],
    [5, 8],
    [5, 7],
  ]);
  expect(lanes.placeOf(2, 5)).toEqual({ lane: 2, place: 2 });
  expect(lanes.placeOf(2, 6)).toBeUndefined();
});

test.each([0, 1, 2, 31, 1000, 10_000])("%d keys are sorted", (length) => {
  const keys = Float64Array.from({ length }, (_, n) => (n * 7919) % 1009);
  const expected = Array.from(keys.keys()).sort((one, other) => {
    return (keys[one] as number) - (keys[other] as number) || one - other;
  });
  expect(Array.from(finished(orderOf(keys)))).toEqual(expected);
});
