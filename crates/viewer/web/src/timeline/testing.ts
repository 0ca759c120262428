// Helpers that tests of the timeline share.

import { Spans, type TrackLanes } from "./lanes";
import { finished } from "./sorting";

/** Lanes of spans whose rows are their indices. A negative end marks an error. */
export function lanesOf(spans: readonly (readonly [number, number])[], most?: number): TrackLanes {
  const all = new Spans();
  for (const [row, [from, until]] of spans.entries())
    all.add(from, Math.abs(until), row, until < 0);
  return finished(all.lanes(most));
}
