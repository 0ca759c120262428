// Which messages are shown.

import type { Numbers } from "../format/frame";
import type { Recording } from "../model/recording";
import { partitionPoint } from "../model/search";
import type { Span } from "./store";

/** The messages that are shown, in their order. */
export interface Visible {
  /** Their rows. */
  readonly rows: Uint32Array;
  /** Whether a row is shown. */
  has(row: number): boolean;
  /** The place of a row among those that are shown, or where it would be. */
  placeOf(row: number): number;
}

/** The messages of which the bit is set, of `length`; none without bits. */
export function visibleOf(length: number, bits: Numbers = new Uint8Array(0)): Visible {
  const has = (row: number): boolean => (((bits[row >> 3] ?? 0) >> (row & 7)) & 1) === 1;
  const rows = rowsOf(bits, length);
  return { rows, has, placeOf: (row) => lowerBound(rows, row) };
}

/** The same messages when the first `gone` of all are gone. */
export function visibleAfter(visible: Visible, gone: number): Visible {
  const rows = visible.rows.subarray(lowerBound(visible.rows, gone)).map((row) => row - gone);
  return {
    rows,
    has: (row) => visible.has(row + gone),
    placeOf: (row) => lowerBound(rows, row),
  };
}

/** The places of the bits that are set, below `length`. */
function rowsOf(bits: Numbers, length: number): Uint32Array {
  const bytes = Math.min(bits.length, Math.ceil(length / 8));
  const rows = new Uint32Array(length);
  let count = 0;
  for (let at = 0; at < bytes; at++) {
    // Of a selection most bytes are empty.
    for (let left = bits[at] as number; left !== 0; left &= left - 1) {
      rows[count++] = at * 8 + 31 - Math.clz32(left & -left);
    }
  }
  while (count > 0 && (rows[count - 1] as number) >= length) count--;
  return rows.slice(0, count);
}

/**
 * The rows of a stretch of time, of those that are shown. Messages of which nothing is told yet are
 * left out: what is shown may be of a recording that had more.
 */
export function shownIn(
  recording: Recording,
  rows: Uint32Array,
  span: Span | undefined,
): Uint32Array {
  const length = recording.length;
  const isWhole = rows.length === 0 || (rows[rows.length - 1] as number) < length;
  if (span === undefined && isWhole) return rows;
  const known = isWhole ? rows : rows.subarray(0, lowerBound(rows, length));
  return span === undefined ? known : within(recording.at.slice(0, length), known, span);
}

/** The rows whose times are in a span. Times of a recording need not ascend, so each is looked at. */
function within(at: Float64Array, rows: Uint32Array, { from, until }: Span): Uint32Array {
  const found = new Uint32Array(rows.length);
  let count = 0;
  for (let place = 0; place < rows.length; place++) {
    const row = rows[place] as number;
    const time = at[row] as number;
    if (time >= from && time < until) found[count++] = row;
  }
  return found.slice(0, count);
}

/** The first place in ascending numbers whose number is not less than this one. */
export function lowerBound(numbers: ArrayLike<number>, number: number): number {
  return partitionPoint(numbers.length, (place) => (numbers[place] as number) < number);
}

/** The first place in ascending numbers whose number is greater than this one. */
export function upperBound(numbers: ArrayLike<number>, number: number): number {
  return lowerBound(numbers, number + 1);
}
