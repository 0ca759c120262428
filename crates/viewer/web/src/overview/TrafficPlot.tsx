// Plots traffic over time. The user selects a time range by dragging or with the keyboard.

import { type ReadonlySignal, useComputed, useSignal } from "@preact/signals";
import type { JSX, TargetedPointerEvent } from "preact";
import { useRef } from "preact/hooks";
import { duration } from "../parts/format";
import { useCanvas } from "../parts/useCanvas";
import type { Span } from "../state/store";
import { type BrushDrag, dragged, gripAt, keyed } from "./brush";
import { paintTraffic } from "./paintTraffic";
import type { Counted } from "./trafficCounts";

interface TrafficPlotProps {
  readonly label: string;
  readonly counted: ReadonlySignal<Counted>;
  /** The time range of the whole plot. */
  readonly whole: ReadonlySignal<Span>;
  /** The selected time range. */
  readonly span: ReadonlySignal<Span | undefined>;
  readonly playhead: ReadonlySignal<number | undefined>;
  /** The times of messages that the search has found. */
  readonly hits?: ReadonlySignal<readonly number[]>;
  readonly onSpan: (span: Span | undefined) => void;
}

export function TrafficPlot(props: TrafficPlotProps): JSX.Element {
  const { counted, whole, span, playhead, onSpan } = props;
  const canvas = useCanvas(() => {
    const picture = {
      counted: counted.value,
      whole: whole.value,
      playhead: playhead.value,
      hits: props.hits?.value ?? NO_HITS,
    };
    return (sheet) => paintTraffic(sheet, picture);
  });
  const brush = useBrush(props);
  const press = (event: KeyboardEvent): void => {
    const done = keyed(event.key, span.value, whole.value);
    if (done === undefined || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    onSpan(done.span);
  };
  return (
    <div
      class={`traffic-plot grip-${brush.grip.value}`}
      role="group"
      aria-label={`${props.label}. Drag, or press + and the arrow keys, to select a time range; Escape selects everything.`}
      title="Messages over time, on a square-root scale. Drag to choose a time range."
      tabIndex={0}
      onKeyDown={press}
      onPointerDown={brush.down}
      onPointerMove={brush.move}
      onPointerUp={brush.up}
      onPointerCancel={brush.up}
      onDblClick={() => onSpan(undefined)}
    >
      <canvas ref={canvas} />
      <Chosen {...props} />
    </div>
  );
}

type BrushEvent = TargetedPointerEvent<HTMLElement>;

interface TrafficBrush {
  readonly grip: ReadonlySignal<string>;
  readonly down: (event: BrushEvent) => void;
  readonly move: (event: BrushEvent) => void;
  readonly up: (event: BrushEvent) => void;
}

function useBrush({ whole, span, onSpan }: TrafficPlotProps): TrafficBrush {
  const drag = useRef<BrushDrag & { readonly x: number }>(undefined);
  const grip = useSignal("outside");
  const timeOf = (event: BrushEvent): { at: number; perPixel: number } => {
    const { left, width } = event.currentTarget.getBoundingClientRect();
    const { from, until } = whole.peek();
    const perPixel = (until - from) / Math.max(1, width);
    return { at: from + (event.clientX - left) * perPixel, perPixel };
  };
  const gripOf = (event: BrushEvent) => {
    const { at, perPixel } = timeOf(event);
    return { at, grip: gripAt(span.peek(), at, perPixel * REACH) };
  };
  return {
    grip,
    down: (event) => {
      if (event.button !== 0) return;
      event.currentTarget.setPointerCapture(event.pointerId);
      const { at, grip } = gripOf(event);
      drag.current = { grip, began: at, span: span.peek(), x: event.clientX };
    },
    move: (event) => {
      const { current } = drag;
      if (current === undefined) grip.value = gripOf(event).grip;
      else if (Math.abs(event.clientX - current.x) >= DRAG_MIN || grip.peek() === "dragging") {
        grip.value = "dragging";
        onSpan(dragged(current, timeOf(event).at, whole.peek()));
      }
    },
    up: () => {
      drag.current = undefined;
      grip.value = "outside";
    },
  };
}

/** The selected range: the rest is dimmed, and keys move its ends. */
function Chosen({ span, whole, onSpan }: TrafficPlotProps): JSX.Element | null {
  const place = useComputed(() => {
    if (span.value === undefined) return undefined;
    const { from, until } = whole.value;
    const part = (at: number): number =>
      Math.min(Math.max((at - from) / (until - from), 0), 1) * 100;
    return { left: part(span.value.from), right: part(span.value.until) };
  });
  if (place.value === undefined || span.value === undefined) return null;
  const { left, right } = place.value;
  const { from, until } = span.value;
  return (
    <>
      <div class="traffic-dim" style={{ left: 0, width: `${left}%` }} />
      <div class="traffic-dim" style={{ left: `${right}%`, right: 0 }} />
      <End label="Begin" at={from} left={left} other={until} {...{ whole, onSpan }} />
      <End label="End" at={until} left={right} other={from} {...{ whole, onSpan }} />
      <span class="traffic-length" style={{ left: `${left}%`, width: `${right - left}%` }}>
        {duration(until - from)}
      </span>
    </>
  );
}

interface EndProps {
  readonly label: string;
  readonly at: number;
  /** The time of the other end. */
  readonly other: number;
  readonly left: number;
  readonly whole: ReadonlySignal<Span>;
  readonly onSpan: (span: Span | undefined) => void;
}

function End({ label, at, other, left, whole, onSpan }: EndProps): JSX.Element {
  const press = (event: KeyboardEvent): void => {
    const { from, until } = whole.peek();
    const step = ((until - from) / 100) * (event.shiftKey ? 5 : 1);
    const by = { ArrowLeft: -step, ArrowRight: step }[event.key];
    if (by === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    const drag = { grip: "outside", began: other, span: undefined } as const;
    onSpan(dragged(drag, at + by, whole.peek()));
  };
  return (
    <div
      class="traffic-end"
      style={{ left: `${left}%` }}
      role="slider"
      tabIndex={0}
      aria-label={label}
      aria-valuemin={whole.value.from / 1e9}
      aria-valuemax={whole.value.until / 1e9}
      aria-valuenow={at / 1e9}
      aria-valuetext={duration(at)}
      onKeyDown={press}
    />
  );
}

const NO_HITS: readonly number[] = [];

/** Distance in pixels at which the pointer grabs an end, and that it must move before it drags. */
const REACH = 6;
const DRAG_MIN = 3;
