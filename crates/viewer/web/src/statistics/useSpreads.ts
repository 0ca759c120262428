// Distributions of the visible messages.

import type { ReadonlySignal } from "@preact/signals";
import { inSlices } from "../overview/slices";
import { useStore } from "../state/context";
import { type HistogramMeasure, Spreads } from "./histograms";
import { restingRows, useFound } from "./queries";

/** The distributions of durations or sizes of the visible messages, updated when these change. */
export function useSpreads(measure: HistogramMeasure): ReadonlySignal<Spreads | undefined> {
  const store = useStore();
  return useFound(async (abort) => {
    const rows = restingRows(store);
    const spreads = new Spreads(store.recording.peek(), measure, store.span.peek());
    const step = (from: number, to: number): void => {
      for (let at = from; at < to; at++) spreads.add(rows[at] as number);
    };
    if (!(await inSlices(rows.length, step, abort))) return undefined;
    spreads.finish();
    return spreads;
  });
}
