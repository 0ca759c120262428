import { expect, test } from "vitest";
import { busPartsOf, partsOf, total } from "./phases";

test("parts of the bar have shares of the total", () => {
  const phases = [
    { phase: "route call", ns: 25 },
    { phase: "service", ns: 75 },
  ];
  expect(total(phases)).toBe(100);
  const parts = partsOf(phases).map(({ className, share }) => [className, share]);
  expect(parts).toEqual([
    ["phase-route-call", 0.25],
    ["phase-service", 0.75],
  ]);
});

test("phases without any time have no shares", () => {
  expect(partsOf([{ phase: "service", ns: 0 }])[0]?.share).toBe(0);
});

test("each phase of a message in the bus is explained", () => {
  const names = ["start", "receive", "wait", "route", "dispatch", "match", "send"];
  const parts = busPartsOf(names.map((phase) => ({ phase, ns: 10 })));
  expect(parts.map(({ name }) => name)).toEqual(names);
  expect(parts.every(({ about }) => about !== "")).toBe(true);
  expect(parts[0]?.className).toBe("phase-start");
});
