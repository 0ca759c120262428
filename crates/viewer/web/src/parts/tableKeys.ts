// Keyboard navigation between the rows of a table.

/** The state of a table when a key is pressed. */
export interface TablePosition {
  /** The index of the active row; undefined if no row is active. */
  readonly at: number | undefined;
  readonly count: number;
  /** The number of rows that are visible at once. */
  readonly page: number;
}

/** The row that a key moves to; undefined if the key does not move. */
export function rowAfter(key: string, { at, count, page }: TablePosition): number | undefined {
  const step = STEPS[key]?.(page);
  if (step === undefined || count === 0) return undefined;
  // Without an active row, the first step leads to the first row.
  const from = at ?? (Number.isFinite(step) ? -step : 0);
  return Math.min(Math.max(from + step, 0), count - 1);
}

const STEPS: Readonly<Record<string, (page: number) => number>> = {
  ArrowDown: () => 1,
  ArrowUp: () => -1,
  j: () => 1,
  k: () => -1,
  PageDown: (page) => page,
  PageUp: (page) => -page,
  Home: () => Number.NEGATIVE_INFINITY,
  End: () => Number.POSITIVE_INFINITY,
};
