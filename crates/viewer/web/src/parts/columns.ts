import type { Unit } from "../generated/protocol";
// The widths of table columns.

/** A minimum width in pixels. The remaining space is distributed in proportion to `share`. */
export interface Width {
  readonly min: number;
  readonly share: number;
}

/** The width of each column in pixels. The sum exceeds `room` if the minimum widths do. */
export function laidOut(widths: readonly Width[], room: number): number[] {
  const least = widths.reduce((sum, { min }) => sum + min, 0);
  const shares = widths.reduce((sum, { share }) => sum + share, 0);
  const left = Math.max(0, room - least);
  if (shares === 0) return widths.map(({ min }) => min);
  return widths.map(({ min, share }) => min + Math.floor((left * share) / shares));
}

/** Parses a CSS width: `90px`, `6rem`, `minmax(8rem, 1fr)`. */
export function widthOf(text: string): Width {
  const range = /^minmax\(([^,]+),([^)]+)\)$/.exec(text.trim());
  if (range === null) return { min: pixels(text), share: 0 };
  const [, least = "", most = ""] = range;
  return { min: pixels(least), share: Number.parseFloat(most) || 0 };
}

/** The default width of a column with this unit. */
export function usualWidth(unit: Unit): Width {
  return USUAL[unit];
}

/** A width with a minimum of at least this number of pixels. */
export function atLeast({ min, share }: Width, pixels: number): Width {
  return { min: Math.max(min, pixels), share };
}

/** The width of a column after the user dragged its edge by this number of pixels. */
export function pulled(width: number, by: number): Width {
  return { min: Math.min(Math.max(width + by, WIDTH_MIN), WIDTH_MAX), share: 0 };
}

function pixels(text: string): number {
  const amount = Number.parseFloat(text) || 0;
  return text.trim().endsWith("rem") ? amount * REM : amount;
}

const USUAL: Record<Unit, Width> = {
  text: { min: 130, share: 1 },
  count: { min: 84, share: 0 },
  bytes: { min: 84, share: 0 },
  time: { min: 84, share: 0 },
  share: { min: 68, share: 0 },
  rate: { min: 84, share: 0 },
  mean: { min: 84, share: 0 },
};

/** The root font size of the page in pixels. */
const REM = 16;
const WIDTH_MIN = 40;
const WIDTH_MAX = 4000;
