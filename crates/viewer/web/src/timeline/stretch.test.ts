import { expect, test } from "vitest";
import type { Span } from "../state/store";
import { labelOf, stepOf, ticksOf } from "./ruler";
import { around, clamped, panned, pixelOf, showing, timeAt, zoomed } from "./stretch";

const END = 10_000;
const span = (from: number, until: number): Span => ({ from, until });

test.each<[string, Span, Span]>([
  ["closer", zoomed(span(0, 10_000), 0.5, 2000, END), span(1000, 6000)],
  ["farther, until the beginning", zoomed(span(1000, 2000), 4, 1500, END), span(0, 4000)],
  ["farther, until all", zoomed(span(1000, 9000), 4, 5000, END), span(0, END)],
  ["not too close", zoomed(span(1000, 1300), 0.1, 1150, END), span(1050, 1250)],
  ["moved", panned(span(1000, 2000), 500, END), span(1500, 2500)],
  ["moved to the end", panned(span(8000, 9000), 5000, END), span(9000, END)],
  ["moved to the beginning", panned(span(800, 1800), -5000, END), span(0, 1000)],
  ["longer than there is", clamped(span(-5, 20_000), END), span(0, END)],
  ["around", around(span(2000, 4000), END), span(1800, 4200)],
  ["around a point", around(span(2000, 2000), END), span(1900, 2100)],
  ["showing what it shows", showing(span(0, 1000), span(10, 20), END), span(0, 1000)],
  ["showing what is elsewhere", showing(span(0, 1000), span(5000, 5100), END), span(4550, 5550)],
  ["showing what is longer", showing(span(0, 1000), span(5000, 7000), END), span(4800, 7200)],
])("a span %s", (_, found, expected) => {
  expect(found.from).toBeCloseTo(expected.from);
  expect(found.until).toBeCloseTo(expected.until);
});

test("pixels and times are converted in both directions", () => {
  const stretch = { from: 100, until: 300, width: 50 };
  expect(pixelOf(stretch, 200)).toBe(25);
  expect(timeAt(stretch, 25)).toBe(200);
});

test.each([
  [1000, 10, 100],
  [1000, 7, 200],
  [1000, 3, 500],
  [999, 1, 1000],
  [7, 100, 1],
])("in %d ns at most %d steps are of %d ns", (length, most, expected) => {
  expect(stepOf(span(0, length), most)).toBe(expected);
});

test.each([
  [2e9, 1e9, "2 s"],
  [2.5e9, 5e8, "2.5 s"],
  [12_345_000_000, 1e6, "12.345 s"],
  [12_345_678_000, 1e3, "12.345\u2009678 s"],
  [1, 1, "0.000\u2009000\u2009001 s"],
])("at %d ns with steps of %d is %s", (at, step, expected) => {
  expect(labelOf(at, step)).toBe(expected);
});

test("ticks are within the range", () => {
  const ticks = ticksOf({ from: 1.1e9, until: 3.4e9, width: 300 });
  expect(ticks.map(({ label }) => label)).toEqual(["2 s", "3 s"]);
});
