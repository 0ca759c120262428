import { expect, test } from "vitest";
import { bytes, duration, rate, share, sinceStart } from "./format";

test.each([
  [0, "0 ns"],
  [999, "999 ns"],
  [1_234, "1.23 µs"],
  [12_345, "12.3 µs"],
  [999_600, "1.00 ms"],
  [1_200_000, "1.20 ms"],
  [59_960_000_000, "60.0 s"],
  [125_000_000_000, "2 min 5 s"],
  [3_725_000_000_000, "1 h 2 min 5 s"],
])("a duration of %d ns is %s", (nanos, expected) => {
  expect(duration(nanos)).toBe(expected);
});

test("bytes, shares, rates and times are formatted", () => {
  expect(bytes(999)).toBe("999 B");
  expect(bytes(1536)).toBe("1.50 KiB");
  expect(share(0.001)).toBe("<1 %");
  expect(share(0.5)).toBe("50 %");
  expect(rate(1234)).toBe("1,234/s");
  expect(sinceStart(1_234_567_890)).toBe("1.234\u2009568 s");
});
