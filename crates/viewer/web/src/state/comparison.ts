// How two recordings are compared.

/**
 * What of a comparison is shown: a table of what is different, or both sequences beside each other.
 */
export type CompareTab = "differences" | "sequences";

/** From where times are counted: the first message of each recording, or one clock for both. */
export type Alignment = "start" | "clock";

export interface Comparison {
  readonly tab: CompareTab;
  readonly alignment: Alignment;
}

/** What the words of an address say; what they do not say is as at first. */
export function comparisonOf(tab: string | null, alignment: string | null): Comparison {
  return {
    tab: tab === "sequences" ? tab : "differences",
    alignment: alignment === "clock" ? alignment : "start",
  };
}
