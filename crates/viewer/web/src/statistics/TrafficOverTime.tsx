// Traffic over time, as a large plot and as a table.

import { useComputed } from "@preact/signals";
import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import { Overview } from "../overview/Overview";
import { trafficOf } from "../overview/trafficCounts";
import { DataTable } from "../parts/DataTable";
import { cellOf } from "../parts/table";
import { useStore } from "../state/context";
import type { Span } from "../state/store";
import { intervalsOf } from "./intervals";
import { statisticsState } from "./state";

export function TrafficOverTime(): JSX.Element {
  const store = useStore();
  const traffic = trafficOf(store);
  const span = useComputed<Span>(() => {
    traffic.value;
    return store.span.value ?? { from: 0, until: Math.max(store.recording.value.end, 1000) };
  }).value;
  const { shown } = traffic.value;
  const { table, length } = useMemo(() => intervalsOf(shown, span, PARTS), [shown, span]);
  return (
    <div class="by-subject">
      <p class="legend">
        {LEGEND.map((name) => (
          <span key={name} class={`legend-item of-${name}`}>
            {name}s
          </span>
        ))}
        <span class="legend-item of-hidden">not selected</span>
        <span>Square-root scale. Double-click a row to select its time.</span>
      </p>
      <div class="traffic-large">
        <Overview />
      </div>
      <div class="fill">
        <DataTable
          label="Traffic over time"
          usedBy="double-click"
          table={table}
          {...statisticsState(store).sorting(table)}
          onChoose={(place) => {
            const from = Number(cellOf({ table, place }, "from_ns"));
            store.span.value = { from, until: from + length };
          }}
        />
      </div>
    </div>
  );
}

const LEGEND = ["call", "return", "error", "signal"];

/** The maximum number of rows of the table. */
const PARTS = 60;
