// The options of a comparison of two recordings.

/** The displayed part of a comparison: a table of differences, or both sequences side by side. */
export type CompareTab = "differences" | "sequences";

/** The start of times: the first message of each recording, or one clock for both. */
export type Alignment = "start" | "clock";

export interface Comparison {
  readonly tab: CompareTab;
  readonly alignment: Alignment;
}

/** Parses the values of an address. Missing values get their defaults. */
export function comparisonOf(tab: string | null, alignment: string | null): Comparison {
  return {
    tab: tab === "sequences" ? tab : "differences",
    alignment: alignment === "clock" ? alignment : "start",
  };
}
