import { expect, test } from "vitest";
import { Kind } from "../model/recording";
import { peakLabel, tickLabel } from "./paintTraffic";
import { peakOf, Traffic } from "./traffic";

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

test("the rate of the busiest interval does not depend on pixels", () => {
  const traffic = new Traffic();
  for (let at = 0; at < 60; at++) traffic.add(1e9 + at * 1e6, Kind.Signal);
  for (let at = 0; at < 10; at++) traffic.add(at * 1e9, Kind.Signal);
  expect(peakLabel(peakOf(traffic, { from: 0, until: 10e9 }))).toBe("up to 61/s over 1 s");
  expect(peakOf(traffic, { from: 1e9, until: 1.05e9 })).toEqual({ messages: 11, interval: 1e7 });
});
