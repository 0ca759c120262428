import { expect, test } from "vitest";
import { action, lineStartingWith, type MenuItem, nextAction, placed } from "./openMenu";

const nothing = (): void => {};
const ITEMS: MenuItem[] = [
  { kind: "heading", label: "Filter" },
  action("Only this", nothing),
  { kind: "separator" },
  action("Copy", nothing),
  action("Copy all", nothing),
];

test.each<[number, 1 | -1, number]>([
  [-1, 1, 1],
  [1, 1, 3],
  [4, 1, 1],
  [3, -1, 1],
  [1, -1, 4],
  [0, -1, 4],
])("the next action from line %d in steps of %d is line %d", (from, step, expected) => {
  expect(nextAction(ITEMS, from, step)).toBe(expected);
});

test("a menu without actions has no next action", () => {
  expect(nextAction([{ kind: "separator" }], -1, 1)).toBe(-1);
});

test.each([
  [1, "c", 3],
  [3, "c", 4],
  [4, "c", 3],
  [3, "x", 3],
])("from line %d, %s leads to line %d", (from, start, expected) => {
  expect(lineStartingWith(ITEMS, from, start)).toBe(expected);
});

test.each([
  [
    { x: 10, y: 10 },
    { x: 10, y: 10 },
  ],
  [
    { x: 790, y: 590 },
    { x: 696, y: 546 },
  ],
  [
    { x: -20, y: 0 },
    { x: 4, y: 4 },
  ],
])("a menu opened at %o is placed at %o", (at, expected) => {
  expect(placed(at, { width: 100, height: 50 }, { width: 800, height: 600 })).toEqual(expected);
});
