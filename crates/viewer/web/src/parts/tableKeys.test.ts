import { expect, test } from "vitest";
import { rowAfter } from "./tableKeys";

test.each<[string, number | undefined, number | undefined]>([
  ["j", undefined, 0],
  ["End", undefined, 99],
  ["ArrowDown", 5, 6],
  ["k", 5, 4],
  ["ArrowUp", 0, 0],
  ["PageDown", 95, 99],
  ["PageUp", 12, 2],
  ["Home", 50, 0],
  ["x", 50, undefined],
])("%s at row %s of a hundred moves to %s", (key, at, expected) => {
  expect(rowAfter(key, { at, count: 100, page: 10 })).toBe(expected);
});

test("keys do not move in an empty table", () => {
  expect(rowAfter("j", { at: undefined, count: 0, page: 10 })).toBeUndefined();
});
