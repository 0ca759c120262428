import { expect, test } from "vitest";
import { partsOf, total } from "./phases";

test("parts of the bar have their shares", () => {
  const phases = [
    { phase: "route call", ns: 25 },
    { phase: "service", ns: 75 },
  ];
  expect(total(phases)).toBe(100);
  const parts = partsOf(phases).map(({ look, share }) => [look, share]);
  expect(parts).toEqual([
    ["phase-route-call", 0.25],
    ["phase-service", 0.75],
  ]);
});

test("a way that took no time has no shares", () => {
  expect(partsOf([{ phase: "service", ns: 0 }])[0]?.share).toBe(0);
});
