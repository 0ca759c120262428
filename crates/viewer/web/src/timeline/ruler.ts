// The ruler: round times, as many as fit.

import type { Span } from "../state/store";
import type { Stretch } from "./stretch";

/** A line of the ruler. */
export interface RulerTick {
  readonly at: number;
  readonly label: string;
}

/** Width of a label with its space, in pixels. */
const LABEL_WIDTH = 110;
const STEPS = [1, 2, 5];

/** Round times in a range, ascending. */
export function ticksOf(stretch: Stretch): RulerTick[] {
  const step = stepOf(stretch, stretch.width / LABEL_WIDTH);
  const ticks: RulerTick[] = [];
  for (let n = Math.ceil(stretch.from / step); n * step <= stretch.until; n++) {
    ticks.push({ at: n * step, label: labelOf(n * step, step) });
  }
  return ticks;
}

/** The shortest step of 1, 2, 5, 10, … nanoseconds of which at most `most` fit into a span. */
export function stepOf(span: Span, most: number): number {
  const least = (span.until - span.from) / Math.max(most, 1);
  const power = 10 ** Math.max(0, Math.floor(Math.log10(least)));
  const step = STEPS.find((step) => step * power >= least);
  return step === undefined ? 10 * power : step * power;
}

/** Seconds with enough digits to distinguish neighbors, in groups of three. */
export function labelOf(at: number, step: number): string {
  const digits = Math.max(0, 9 - Math.floor(Math.log10(step) + 1e-9));
  const [whole = "", part = ""] = (at / 1e9).toFixed(digits).split(".");
  const groups = part.match(/.{1,3}/g) ?? [];
  return `${[whole, groups.join("\u2009")].filter((text) => text !== "").join(".")} s`;
}
