import { expect, test } from "vitest";
import { Kind } from "../model/recording";
import { highest, KINDS, spread, Traffic, ticks, totalOf } from "./traffic";

function traffic(...at: number[]): Traffic {
  const found = new Traffic();
  for (const time of at) found.add(time, Kind.Call);
  return found;
}

function totals(columns: Float64Array): number[] {
  return Array.from({ length: columns.length / KINDS }, (_, column) => totalOf(columns, column));
}

test.each([1e6, 1e9, 3e12, 1e15])("no message is lost in %d ns", (end) => {
  const found = new Traffic();
  for (let number = 0; number <= 1000; number++) {
    found.add((number / 1000) * end, number % 3 === 0 ? Kind.Error : Kind.Signal);
  }
  const whole = spread(found, 0, end * 1.5, 1);
  expect([whole[Kind.Error], whole[Kind.Signal]]).toEqual([334, 667]);
  expect(found.used * found.width).toBeGreaterThanOrEqual(end);
});

test("messages are counted in the buckets of their times", () => {
  const found = traffic(-5, 0, 1e6, 1.1e6, 9.9e6);
  expect(totals(spread(found, 0, 10e6, 10))).toEqual([2, 2, 0, 0, 0, 0, 0, 0, 0, 1]);
  expect(totals(spread(found, 1e6, 2e6, 2))).toEqual([2, 0]);
  expect(highest(spread(found, 0, 10e6, 10))).toBe(2);
});

test("a bucket that overlaps two columns counts in proportion", () => {
  const found = totals(spread(traffic(0), 0, 250_000, 2));
  expect(found).toEqual([0.5, 0.5]);
});

test("cleared traffic is empty", () => {
  const found = traffic(1, 2, 3e9);
  found.clear();
  expect([found.used, highest(spread(found, 0, 4e9, 3))]).toEqual([0, 0]);
});

test.each<[number, number, number, number[]]>([
  [0, 10, 5, [0, 2, 4, 6, 8]],
  [3, 10, 4, [4, 6, 8]],
  [0, 1e9, 3, [0, 5e8]],
  [0, 200e9, 5, [0, 60e9, 120e9, 180e9]],
])("from %d to %d at most %d ticks", (from, until, most, expected) => {
  expect(ticks(from, until, most)).toEqual(expected);
});
