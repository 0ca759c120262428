// The traffic overview above all views.

import { useComputed } from "@preact/signals";
import type { JSX } from "preact";
import { useStore } from "../state/context";
import type { Span, Store } from "../state/store";
import { TrafficPlot } from "./TrafficPlot";
import { trafficOf } from "./trafficCounts";

/** Traffic over the whole recording. The user can select a time range in it. */
export function Overview(): JSX.Element {
  const store = useStore();
  const whole = useComputed<Span>(() => {
    store.grown.value;
    return { from: 0, until: Math.max(store.recording.value.end, LENGTH_MIN) };
  });
  const playhead = useComputed(() => timeOfSelected(store));
  const hits = useComputed(() => timesOfHits(store));
  return (
    <TrafficPlot
      label="Traffic over the whole recording"
      counted={trafficOf(store)}
      whole={whole}
      span={store.span}
      playhead={playhead}
      hits={hits}
      onSpan={(span) => {
        store.span.value = span;
      }}
    />
  );
}

function timeOfSelected(store: Store): number | undefined {
  const row = store.selected.value;
  const recording = store.recording.value;
  return row === undefined || row >= recording.length ? undefined : recording.at.get(row);
}

function timesOfHits(store: Store): readonly number[] {
  const recording = store.recording.value;
  const hits = store.hits.value;
  if (hits === undefined || hits.recording !== recording) return [];
  return Array.from(hits.rows, (row) => recording.at.get(row));
}

/** Minimum length of the displayed range, in nanoseconds. */
const LENGTH_MIN = 1000;
