import { expect, test } from "vitest";
import { atLeast, laidOut, pulled, type Width, widthOf } from "./columns";

const TEXT: Width = { min: 100, share: 1 };
const NUMBER: Width = { min: 50, share: 0 };

test.each<[Width[], number, number[]]>([
  [[TEXT, NUMBER], 400, [350, 50]],
  [[{ min: 100, share: 3 }, TEXT, NUMBER], 650, [400, 200, 50]],
  [[TEXT, NUMBER], 90, [100, 50]],
  [[NUMBER, NUMBER], 400, [50, 50]],
  [[], 400, []],
])("columns %o in %d pixels", (widths, room, expected) => {
  expect(laidOut(widths, room)).toEqual(expected);
});

test.each<[string, Width]>([
  ["90px", { min: 90, share: 0 }],
  ["6rem", { min: 96, share: 0 }],
  ["minmax(8rem, 1fr)", { min: 128, share: 1 }],
  ["minmax(100px,2fr)", { min: 100, share: 2 }],
  ["wide", { min: 0, share: 0 }],
])("%s is parsed as a width", (text, expected) => {
  expect(widthOf(text)).toEqual(expected);
});

test.each([
  [100, 20, 120],
  [100, -90, 40],
  [3990, 100, 4000],
])("a column of %d pixels pulled by %d", (width, by, expected) => {
  expect(pulled(width, by)).toEqual({ min: expected, share: 0 });
});

test("columns are at least as wide as their headings", () => {
  expect(atLeast(NUMBER, 70)).toEqual({ min: 70, share: 0 });
  expect(atLeast(TEXT, 70)).toEqual(TEXT);
});
