// Keys that move from row to row.

/** What a table is when a key is pressed. */
export interface TablePosition {
  /** The row that the keys are at; undefined before the first. */
  readonly at: number | undefined;
  readonly count: number;
  /** Rows that are seen at once. */
  readonly page: number;
}

/** The row that a key moves to; undefined if it moves to none. */
export function rowAfter(key: string, { at, count, page }: TablePosition): number | undefined {
  const step = STEPS[key]?.(page);
  if (step === undefined || count === 0) return undefined;
  // The first step of one, or of a page, goes to the first row.
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
