// Selection of a time range by dragging.

import type { Span } from "../state/store";

/** The part of the range that the pointer grabs. */
export type Grip = "from" | "until" | "inside" | "outside";

/** The part of the range that the pointer grabs at a time. An end is grabbed within `reach`. */
export function gripAt(span: Span | undefined, at: number, reach: number): Grip {
  if (span === undefined) return "outside";
  const [before, after] = [Math.abs(at - span.from), Math.abs(at - span.until)];
  if (Math.min(before, after) <= reach) return before <= after ? "from" : "until";
  return span.from < at && at < span.until ? "inside" : "outside";
}

/** A drag and its starting point. */
export interface BrushDrag {
  readonly grip: Grip;
  readonly began: number;
  /** The range that was selected before. */
  readonly span: Span | undefined;
}

/** The selected range when the pointer has moved to a time. */
export function dragged({ grip, began, span }: BrushDrag, at: number, whole: Span): Span {
  if (span === undefined || grip === "outside") return between(began, at, whole);
  if (grip === "from") return between(at, span.until, whole);
  if (grip === "until") return between(span.from, at, whole);
  return moved(span, at - began, whole);
}

/** A range of the same length at another time, limited to the whole range. */
export function moved(span: Span, by: number, whole: Span): Span {
  const way = Math.min(Math.max(by, whole.from - span.from), whole.until - span.until);
  return { from: span.from + way, until: span.until + way };
}

/** A range that is longer by a factor, around its middle; undefined if it is the whole range. */
export function zoomed(span: Span | undefined, times: number, whole: Span): Span | undefined {
  const { from, until } = span ?? whole;
  const half = Math.max(((until - from) / 2) * times, LENGTH_MIN / 2);
  const middle = (from + until) / 2;
  const found = between(middle - half, middle + half, whole);
  return found.from <= whole.from && found.until >= whole.until ? undefined : found;
}

/** The selected range after a key press; undefined if the key has no function. */
export function keyed(
  key: string,
  span: Span | undefined,
  whole: Span,
): { readonly span: Span | undefined } | undefined {
  const step = ((span?.until ?? 0) - (span?.from ?? 0)) * STEP;
  switch (key) {
    case "+":
    case "=":
      return { span: zoomed(span, 1 / ZOOM, whole) };
    case "-":
      return { span: zoomed(span, ZOOM, whole) };
    case "ArrowLeft":
    case "ArrowRight":
      if (span === undefined) return undefined;
      return { span: moved(span, key === "ArrowLeft" ? -step : step, whole) };
    case "Home":
    case "End": {
      if (span === undefined) return undefined;
      const far = whole.until - whole.from;
      return { span: moved(span, key === "Home" ? -far : far, whole) };
    }
    case "Escape":
      return { span: undefined };
    default:
      return undefined;
  }
}

/** The range between two times in any order. */
function between(one: number, other: number, whole: Span): Span {
  const within = (at: number): number => Math.min(Math.max(at, whole.from), whole.until);
  const [from, until] = [within(Math.min(one, other)), within(Math.max(one, other))];
  return { from, until: Math.max(until, from + LENGTH_MIN) };
}

/** Minimum length of a selected range, in nanoseconds. */
const LENGTH_MIN = 1000;

/** The part of its length by which a key moves a range. */
const STEP = 0.1;
const ZOOM = 1.5;
