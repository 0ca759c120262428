// The traffic of one side of a comparison.

import { computed, type ReadonlySignal, useComputed } from "@preact/signals";
import type { JSX } from "preact";
import { inSlices } from "../overview/slices";
import { TrafficPlot } from "../overview/TrafficPlot";
import { Traffic } from "../overview/traffic";
import type { Counted } from "../overview/trafficCounts";
import type { Alignment } from "../state/comparison";
import { useStore } from "../state/context";
import type { Span } from "../state/store";
import { useFound } from "../statistics/queries";
import type { Side } from "./sides";

/** The message counts of a side, and its time range. */
export interface SideCounted extends Counted {
  readonly span: Span;
}

/** Counts the messages of a side, and separately the visible ones. */
export function useSide(
  side: () => Side,
  alignment: ReadonlySignal<Alignment>,
): ReadonlySignal<SideCounted | undefined> {
  const store = useStore();
  return useFound(async (abort) => {
    store.grown.value;
    const buses = new Set(side().buses);
    const isOwn = alignment.value === "start";
    const visible = store.visible.value;
    const recording = store.recording.peek();
    const [all, shown] = [new Traffic(), new Traffic()];
    let [first, last] = [Number.POSITIVE_INFINITY, 0];
    const step = (from: number, to: number): void => {
      for (let row = from; row < to; row++) {
        if (!buses.has(recording.bus.get(row))) continue;
        const at = recording.at.get(row);
        first = Math.min(first, at);
        last = Math.max(last, at);
        const kind = recording.kind.get(row);
        const time = isOwn ? at - first : at;
        all.add(time, kind);
        if (visible.has(row)) shown.add(time, kind);
      }
    };
    if (!(await inSlices(recording.length, step, abort))) return undefined;
    return { all, shown, span: { from: Math.min(first, last), until: last } };
  });
}

interface SideTrafficProps {
  readonly name: string;
  readonly counted: ReadonlySignal<SideCounted | undefined>;
  readonly alignment: ReadonlySignal<Alignment>;
  /** The length of the longer side, from the origin of times. */
  readonly length: ReadonlySignal<number>;
}

/** The traffic of a side. Dragging selects a time range for all views. */
export function SideTraffic({ name, counted, alignment, length }: SideTrafficProps): JSX.Element {
  const store = useStore();
  const start = useComputed(() =>
    alignment.value === "start" ? (counted.value?.span.from ?? 0) : 0,
  );
  const whole = useComputed<Span>(() => ({ from: 0, until: Math.max(length.value, 1000) }));
  const span = useComputed(() => moved(store.span.value, -start.value));
  return (
    <div class="compare-strip">
      <TrafficPlot
        label={`Traffic of ${name}`}
        counted={useComputed(() => counted.value ?? NOTHING)}
        whole={whole}
        span={span}
        playhead={NOWHERE}
        onSpan={(chosen) => {
          store.span.value = moved(chosen, start.peek());
        }}
      />
    </div>
  );
}

function moved(span: Span | undefined, by: number): Span | undefined {
  return span === undefined ? undefined : { from: span.from + by, until: span.until + by };
}

const NOTHING: Counted = { all: new Traffic(), shown: new Traffic() };
const NOWHERE = computed(() => undefined);
