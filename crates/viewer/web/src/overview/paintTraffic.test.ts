import { expect, test } from "vitest";
import { tickLabel } from "./paintTraffic";

test.each([
  [0, 10e9, "0 s"],
  [2.5e9, 10e9, "2.5 s"],
  [20e6, 100e6, "20 ms"],
  [200, 900, "200 ns"],
  [90e9, 300e9, "1:30"],
  [3_725e9, 4_000e9, "1:02:05"],
])("%d ns on an axis to %d is %s", (at, until, expected) => {
  expect(tickLabel(at, until)).toBe(expected);
});
