// The visible time range: its position on the screen, and its movements.

import type { Span } from "../state/store";

/** A time range with its width in pixels. */
export interface Stretch extends Span {
  readonly width: number;
}

/** Minimum length of the visible range, in nanoseconds. */
export const NARROWEST = 200;

/** The pixel of a time. */
export function pixelOf(stretch: Stretch, time: number): number {
  return ((time - stretch.from) / (stretch.until - stretch.from)) * stretch.width;
}

/** The time at a pixel. */
export function timeAt(stretch: Stretch, x: number): number {
  return stretch.from + (x / stretch.width) * (stretch.until - stretch.from);
}

/** Nanoseconds per pixel. */
export function nanosPerPixel(stretch: Stretch): number {
  return (stretch.until - stretch.from) / stretch.width;
}

/** A span whose length is multiplied by `factor`, with `at` at the same position. */
export function zoomed(span: Span, factor: number, at: number, end: number): Span {
  const length = Math.max(NARROWEST, (span.until - span.from) * factor);
  const scale = length / (span.until - span.from);
  const from = at - (at - span.from) * scale;
  return clamped({ from, until: from + length }, end);
}

/** A span that is moved by some nanoseconds. */
export function panned(span: Span, by: number, end: number): Span {
  return clamped({ from: span.from + by, until: span.until + by }, end);
}

/** A span of the same length, or as long as possible, within the whole range. */
export function clamped(span: Span, end: number): Span {
  const length = Math.min(span.until - span.from, Math.max(end, NARROWEST));
  const from = Math.min(Math.max(span.from, 0), Math.max(end, NARROWEST) - length);
  return { from, until: from + length };
}

/** A span around another one, with a tenth of its length on both sides. */
export function around(span: Span, end: number): Span {
  const margin = Math.max((span.until - span.from) / 10, NARROWEST / 2);
  return clamped({ from: span.from - margin, until: span.until + margin }, end);
}

/** A span that contains `inner`: the same one if it does, otherwise moved or extended. */
export function showing(span: Span, inner: Span, end: number): Span {
  if (span.from <= inner.from && inner.until <= span.until) return span;
  const length = span.until - span.from;
  if (inner.until - inner.from > length * 0.8) return around(inner, end);
  const middle = (inner.from + inner.until) / 2;
  return clamped({ from: middle - length / 2, until: middle + length / 2 }, end);
}
