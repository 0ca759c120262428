import { expect, test } from "vitest";
import { Rate } from "./rate";

test.each<[string, [number, number][], number | undefined]>([
  ["no observations", [], undefined],
  ["one observation", [[0, 5]], undefined],
  [
    "too short a period",
    [
      [0, 0],
      [100, 50],
    ],
    undefined,
  ],
  [
    "one second",
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
    "a silent bus",
    [
      [0, 7],
      [1000, 7],
      [2000, 7],
    ],
    0,
  ],
])("the rate of %s", (_, observations, expected) => {
  const rate = new Rate();
  for (const [at, count] of observations) rate.add(at, count);
  expect(rate.perSecond).toBe(expected);
});
