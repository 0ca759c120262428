import { expect, test } from "vitest";
import { nextHit, placeOfHit } from "./hits";

const hits = { rows: Uint32Array.from([3, 7, 20]) };

test.each([
  [undefined, 1, 3],
  [undefined, -1, 20],
  [3, 1, 7],
  [4, 1, 7],
  [20, 1, 3],
  [21, 1, 3],
  [20, -1, 7],
  [3, -1, 20],
  [0, -1, 20],
] as const)("from %s by %s to %s", (selected, step, expected) => {
  expect(nextHit(hits, selected, step)).toBe(expected);
});

test("without hits there is no next one, and only hits have a position", () => {
  expect(nextHit(undefined, 3, 1)).toBe(undefined);
  expect(nextHit({ rows: new Uint32Array() }, 3, -1)).toBe(undefined);
  expect([placeOfHit(hits, 7), placeOfHit(hits, 8), placeOfHit(hits, undefined)]).toEqual([
    2,
    undefined,
    undefined,
  ]);
});
