// A stretch of time that is chosen by dragging.

import type { Span } from "../state/store";

/** What of the stretch the pointer has. */
export type Grip = "from" | "until" | "inside" | "outside";

/** What the pointer has at a point of time; ends are had from so far. */
export function gripAt(span: Span | undefined, at: number, reach: number): Grip {
  if (span === undefined) return "outside";
  const [before, after] = [Math.abs(at - span.from), Math.abs(at - span.until)];
  if (Math.min(before, after) <= reach) return before <= after ? "from" : "until";
  return span.from < at && at < span.until ? "inside" : "outside";
}

/** A drag, from where it has begun. */
export interface BrushDrag {
  readonly grip: Grip;
  readonly began: number;
  /** What was chosen before. */
  readonly span: Span | undefined;
}

/** What is chosen when the pointer has come to a point of time. */
export function dragged({ grip, began, span }: BrushDrag, at: number, whole: Span): Span {
  if (span === undefined || grip === "outside") return between(began, at, whole);
  if (grip === "from") return between(at, span.until, whole);
  if (grip === "until") return between(span.from, at, whole);
  return moved(span, at - began, whole);
}

/** The same length elsewhere, as far as there is room. */
export function moved(span: Span, by: number, whole: Span): Span {
  const way = Math.min(Math.max(by, whole.from - span.from), whole.until - span.until);
  return { from: span.from + way, until: span.until + way };
}

/** A stretch that is so many times as long, around its middle; undefined if it is the whole. */
export function zoomed(span: Span | undefined, times: number, whole: Span): Span | undefined {
  const { from, until } = span ?? whole;
  const half = Math.max(((until - from) / 2) * times, LENGTH_MIN / 2);
  const middle = (from + until) / 2;
  const found = between(middle - half, middle + half, whole);
  return found.from <= whole.from && found.until >= whole.until ? undefined : found;
}

/** What a key does with what is chosen; undefined if it does nothing. */
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

/** What lies between two points of time in either order. */
function between(one: number, other: number, whole: Span): Span {
  const within = (at: number): number => Math.min(Math.max(at, whole.from), whole.until);
  const [from, until] = [within(Math.min(one, other)), within(Math.max(one, other))];
  return { from, until: Math.max(until, from + LENGTH_MIN) };
}

/** Nanoseconds that are chosen at least. */
const LENGTH_MIN = 1000;

/** What part of itself a stretch is moved by. */
const STEP = 0.1;
const ZOOM = 1.5;
