// What tests of the timeline have in common.

import { Spans, type TrackLanes } from "./lanes";
import { finished } from "./sorting";

/** Lanes of spans of which the rows are their places; negative ends are errors. */
export function lanesOf(spans: readonly (readonly [number, number])[], most?: number): TrackLanes {
  const all = new Spans();
  for (const [row, [from, until]] of spans.entries())
    all.add(from, Math.abs(until), row, until < 0);
  return finished(all.lanes(most));
}
