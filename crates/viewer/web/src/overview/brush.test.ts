import { expect, test } from "vitest";
import type { Span } from "../state/store";
import { dragged, type Grip, gripAt, keyed, zoomed } from "./brush";

const WHOLE: Span = { from: 0, until: 1e6 };
const SPAN: Span = { from: 200_000, until: 400_000 };

test.each<[Span | undefined, number, Grip]>([
  [undefined, 300_000, "outside"],
  [SPAN, 201_000, "from"],
  [SPAN, 405_000, "until"],
  [SPAN, 300_000, "inside"],
  [SPAN, 500_000, "outside"],
])("of %o the pointer at %d has the %s", (span, at, expected) => {
  expect(gripAt(span, at, 8000)).toBe(expected);
});

test.each<[Grip, number, number, Span]>([
  ["outside", 700_000, 600_000, { from: 600_000, until: 700_000 }],
  ["outside", 900_000, 2e6, { from: 900_000, until: 1e6 }],
  ["from", 200_000, 100_000, { from: 100_000, until: 400_000 }],
  ["from", 200_000, 500_000, { from: 400_000, until: 500_000 }],
  ["until", 400_000, -1, { from: 0, until: 200_000 }],
  ["inside", 300_000, 350_000, { from: 250_000, until: 450_000 }],
  ["inside", 300_000, 0, { from: 0, until: 200_000 }],
  ["inside", 300_000, 2e6, { from: 800_000, until: 1e6 }],
])("dragging %s from %d to %d", (grip, began, at, expected) => {
  expect(dragged({ grip, began, span: SPAN }, at, WHOLE)).toEqual(expected);
});

test("a selected range is never empty", () => {
  const drag = { grip: "outside", began: 5, span: undefined } as const;
  expect(dragged(drag, 5, WHOLE)).toEqual({ from: 5, until: 1005 });
});

test("zooming out ends with the whole recording", () => {
  expect(zoomed(SPAN, 0.5, WHOLE)).toEqual({ from: 250_000, until: 350_000 });
  expect(zoomed(undefined, 0.5, WHOLE)).toEqual({ from: 250_000, until: 750_000 });
  expect(zoomed(SPAN, 100, WHOLE)).toBeUndefined();
});

test.each<[string, Span | undefined, { span: Span | undefined } | undefined]>([
  ["ArrowLeft", SPAN, { span: { from: 180_000, until: 380_000 } }],
  ["End", SPAN, { span: { from: 800_000, until: 1e6 } }],
  ["Escape", SPAN, { span: undefined }],
  ["ArrowRight", undefined, undefined],
  ["x", SPAN, undefined],
])("the key %s with %o", (key, span, expected) => {
  expect(keyed(key, span, WHOLE)).toEqual(expected);
});
