// The set of displayed messages.

import type { Numbers } from "../format/frame";
import type { Recording } from "../model/recording";
import { partitionPoint } from "../model/search";
import type { Span } from "./store";

/** The displayed messages in order. */
export interface Visible {
  /** The rows of the messages. */
  readonly rows: Uint32Array;
  /** True if a row is displayed. */
  has(row: number): boolean;
  /** The position of a row among the displayed rows, or where it would be inserted. */
  placeOf(row: number): number;
}

/** The messages whose bit is set, of `length` messages; none without bits. */
export function visibleOf(length: number, bits: Numbers = new Uint8Array(0)): Visible {
  const has = (row: number): boolean => (((bits[row >> 3] ?? 0) >> (row & 7)) & 1) === 1;
  const rows = rowsOf(bits, length);
  return { rows, has, placeOf: (row) => lowerBound(rows, row) };
}

/** The same messages after the first `gone` messages were dropped. */
export function visibleAfter(visible: Visible, gone: number): Visible {
  const rows = visible.rows.subarray(lowerBound(visible.rows, gone)).map((row) => row - gone);
  return {
    rows,
    has: (row) => visible.has(row + gone),
    placeOf: (row) => lowerBound(rows, row),
  };
}

/** The indices of the bits that are set, below `length`. */
function rowsOf(bits: Numbers, length: number): Uint32Array {
  const bytes = Math.min(bits.length, Math.ceil(length / 8));
  const rows = new Uint32Array(length);
  let count = 0;
  for (let at = 0; at < bytes; at++) {
    // Most bytes of a selection are 0.
    for (let left = bits[at] as number; left !== 0; left &= left - 1) {
      rows[count++] = at * 8 + 31 - Math.clz32(left & -left);
    }
  }
  while (count > 0 && (rows[count - 1] as number) >= length) count--;
  return rows.slice(0, count);
}

/**
 * The displayed rows in a time range. Rows that the page has not received yet are left out, because
 * the selection may belong to a recording that had more messages.
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

/**
 * The rows whose times are in a range. Times of a recording need not ascend, so each one is
 * compared.
 */
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

/** The first index in ascending numbers whose number is at least this one. */
export function lowerBound(numbers: ArrayLike<number>, number: number): number {
  return partitionPoint(numbers.length, (place) => (numbers[place] as number) < number);
}

/** The first index in ascending numbers whose number is greater than this one. */
export function upperBound(numbers: ArrayLike<number>, number: number): number {
  return lowerBound(numbers, number + 1);
}
