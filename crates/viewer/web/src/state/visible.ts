// Which messages are shown.

import type { Numbers } from "../format/frame";

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
export function visibleOf(length: number, bits?: Numbers): Visible {
  const has = (row: number): boolean => (((bits?.[row >> 3] ?? 0) >> (row & 7)) & 1) === 1;
  let rows = new Uint32Array(length);
  let count = 0;
  for (let row = 0; row < length; row++) {
    if (has(row)) rows[count++] = row;
  }
  rows = rows.slice(0, count);
  return { rows, has, placeOf: (row) => lowerBound(rows, row) };
}

/** The first place in ascending numbers whose number is not less than this one. */
export function lowerBound(numbers: ArrayLike<number>, number: number): number {
  let low = 0;
  let high = numbers.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((numbers[middle] as number) < number) low = middle + 1;
    else high = middle;
  }
  return low;
}
