// Statistics of the durations of repeated calls.

/** The shortest, median and longest duration in nanoseconds. */
export interface Timing {
  readonly count: number;
  readonly min: number;
  readonly median: number;
  readonly max: number;
}

/** The statistics of these durations; undefined if there are none. */
export function timingOf(durations: readonly number[]): Timing | undefined {
  const ordered = durations.toSorted((one, other) => one - other);
  const [min] = ordered;
  const max = ordered.at(-1);
  if (min === undefined || max === undefined) return undefined;
  const half = (ordered.length - 1) / 2;
  const [below = min, above = max] = [ordered[Math.floor(half)], ordered[Math.ceil(half)]];
  return { count: ordered.length, min, median: (below + above) / 2, max };
}
