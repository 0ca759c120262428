import { expect, test } from "vitest";
import { Rate } from "./rate";

test.each<[string, [number, number][], number | undefined]>([
  ["nothing", [], undefined],
  ["one", [[0, 5]], undefined],
  [
    "too short a time",
    [
      [0, 0],
      [100, 50],
    ],
    undefined,
  ],
  [
    "a second",
    [
      [0, 100],
      [1000, 150],
    ],
    50,
  ],
  [
    "only the last seconds",
    [
      [0, 0],
      [1000, 9000],
      [4000, 9300],
      [5000, 9400],
    ],
    100,
  ],
  [
    "silence",
    [
      [0, 7],
      [1000, 7],
      [2000, 7],
    ],
    0,
  ],
])("the rate of %s", (_, notes, expected) => {
  const rate = new Rate();
  for (const [at, count] of notes) rate.note(at, count);
  expect(rate.perSecond).toBe(expected);
});
