import { expect, test } from "vitest";
import { visibleAfter, visibleOf } from "./visible";

test.each<[number, number[], number[]]>([
  [0, [], []],
  [8, [0], []],
  [8, [0b1000_0001], [0, 7]],
  [20, [0, 0b10, 0b1000], [9, 19]],
  // The answer may cover more messages than the page has received, or fewer.
  [10, [0, 0xff], [8, 9]],
  [10, [0xff], [0, 1, 2, 3, 4, 5, 6, 7]],
])("of %d messages the bits %j show %j", (length, bits, expected) => {
  const visible = visibleOf(length, Uint8Array.from(bits));
  expect([...visible.rows]).toEqual(expected);
  for (let row = 0; row < length; row++) expect(visible.has(row)).toBe(expected.includes(row));
});

test("a hidden row has an insertion position", () => {
  const visible = visibleOf(16, Uint8Array.from([0b100, 0b1]));
  expect([0, 2, 3, 8, 9].map((row) => visible.placeOf(row))).toEqual([0, 0, 1, 1, 2]);
});

test.each<[number, number[]]>([
  [0, [0, 3, 9]],
  [2, [1, 7]],
  [4, [5]],
  [10, []],
])("when %d are gone %j are left", (gone, expected) => {
  const left = visibleAfter(visibleOf(16, Uint8Array.from([0b1001, 0b10])), gone);
  expect([...left.rows]).toEqual(expected);
  for (let row = 0; row < 16 - gone; row++) expect(left.has(row)).toBe(expected.includes(row));
  expect(left.placeOf(5)).toBe(expected.filter((row) => row < 5).length);
});
