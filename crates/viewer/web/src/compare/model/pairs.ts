// Messages of two sides as pairs.

import { NONE } from "../../model/recording";
import type { Counterparts } from "./pairing";

/** A message and its counterpart; {@link NONE} if there is none. */
export interface Pair {
  readonly before: number;
  readonly after: number;
}

/** The pairs of these messages, in the order of the messages before. */
export function pairsOf(
  counterparts: Counterparts,
  before: readonly number[],
  after: readonly number[],
): Pair[] {
  const counterpart = (row: number): number => counterparts[row] ?? NONE;
  const pairs = before.map((row) => ({ before: row, after: counterpart(row) }));
  const taken = new Set(pairs.map((pair) => pair.after));
  const others = after.filter((row) => !taken.has(row));
  return [...pairs, ...others.map((row) => ({ before: counterpart(row), after: row }))];
}
