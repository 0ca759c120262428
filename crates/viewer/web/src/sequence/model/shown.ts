// Which messages the diagram has, in its order.

import type { Recording } from "../../model/recording";
import type { Span } from "../../state/store";

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
  const at = recording.at.slice(0, length);
  const { from, until } = span ?? {
    from: Number.NEGATIVE_INFINITY,
    until: Number.POSITIVE_INFINITY,
  };
  return rows.filter((row) => {
    const time = at[row];
    return time !== undefined && time >= from && time < until;
  });
}

/** How many rows at the beginning are the same in both, if all of the first are; else none. */
export function keptOf(before: Uint32Array, after: Uint32Array): number {
  if (before === after) return before.length;
  if (before.length > after.length) return 0;
  for (let place = 0; place < before.length; place++) {
    if (before[place] !== after[place]) return 0;
  }
  return before.length;
}
