// The timeline: the time of each process on its own track.

import type { JSX } from "preact";
import { useEffect, useMemo } from "preact/hooks";
import { useKeys } from "../keys/useKeys";
import { duration } from "../parts/format";
import { sequenceState, toggleMerging } from "../sequence/state";
import { Choice } from "../sequence/Toolbar";
import { useStore } from "../state/context";
import { Holding, timelineKeys } from "./interaction";
import { linesOf } from "./label";
import { Pane } from "./Pane";
import { useProcessors } from "./processors";
import { Surface } from "./Surface";
import type { TrackFilter, TrackOrder } from "./selection";
import { Timeline } from "./state";
import "./timeline.css";

export function TimelineView(): JSX.Element {
  const store = useStore();
  const timeline = useMemo(() => new Timeline(store), [store]);
  useEffect(() => timeline.follow(), [timeline]);
  useProcessors(timeline, store);
  const holding = useMemo(() => new Holding(timeline), [timeline]);
  useEffect(() => holding.follow(), [holding]);
  useKeys("Timeline", () => timelineKeys(timeline, holding));
  return (
    <div class="timeline">
      <Toolbar timeline={timeline} />
      <Surface timeline={timeline} />
      <Pane />
      <Announcement timeline={timeline} />
    </div>
  );
}

function Toolbar({ timeline }: { readonly timeline: Timeline }): JSX.Element {
  const { from, until, width } = timeline.stretch.value;
  const tracks = timeline.tracks.value;
  const hasProcessors = timeline.processors.value !== undefined;
  const isAll = timeline.store.span.value === undefined;
  return (
    <div class="timeline-toolbar">
      <ul class="timeline-legend" aria-label="Colors">
        <Swatch name="waits" title="From the call until the caller has the reply">
          waits for an answer
        </Swatch>
        <Swatch name="serves" title="From receiving the call until replying">
          works on a call
        </Swatch>
        {tracks?.isTraced && (
          <Swatch name="bus" title="Dark: routing; for calls, all bus work. Light: sending">
            in the bus
          </Swatch>
        )}
        <Swatch name="signal" title="A signal, or a call that expects no reply">
          sends
        </Swatch>
        <Swatch name="error" title="An error reply, or no reply">
          error
        </Swatch>
        {hasProcessors && (
          <Swatch name="processor" title="The process ran on a processor">
            on a processor
          </Swatch>
        )}
      </ul>
      <TrackChoice timeline={timeline} />
      <output class="timeline-length">{tracks ? duration(until - from) : "arranging…"}</output>
      <div class="timeline-buttons">
        <button
          type="button"
          title="Zoom in (W, Ctrl+wheel)"
          onClick={() => timeline.zoom(1 / 2, width / 2)}
        >
          +
        </button>
        <button
          type="button"
          title="Zoom out (S, Ctrl+wheel)"
          onClick={() => timeline.zoom(2, width / 2)}
        >
          −
        </button>
        {timeline.store.isLive.value && (
          <button
            type="button"
            aria-pressed={timeline.follows.value}
            title="Follow the newest messages until you scroll"
            onClick={() => (timeline.follows.value = !timeline.follows.value)}
          >
            Follow
          </button>
        )}
        <button
          type="button"
          disabled={isAll}
          title="Whole recording (0)"
          onClick={() => timeline.look(undefined)}
        >
          All
        </button>
      </div>
      <span class="timeline-keys" title={KEYS}>
        <kbd>W</kbd>
        <kbd>A</kbd>
        <kbd>S</kbd>
        <kbd>D</kbd> move, <kbd>F</kbd> focus, <kbd>,</kbd>
        <kbd>.</kbd> previous and next
      </span>
    </div>
  );
}

/** The choice of displayed tracks and of their order. */
function TrackChoice({ timeline }: { readonly timeline: Timeline }): JSX.Element {
  const { filter, merging, store } = timeline;
  const change = (to: Partial<TrackFilter>): void => {
    filter.value = { ...filter.value, ...to };
  };
  const { order, shows, text } = filter.value;
  return (
    <div class="timeline-choice" role="group" aria-label="Tracks">
      <Choice
        label="Track order"
        title="Order of the tracks"
        value={order}
        options={{ appearance: "First seen", busiest: "Busiest", "longest-wait": "Longest wait" }}
        onChoose={(to: TrackOrder) => change({ order: to })}
      />
      <button
        type="button"
        aria-pressed={shows === "waiting"}
        title="Show only tracks that wait for a reply"
        onClick={() => change({ shows: shows === "waiting" ? "all" : "waiting" })}
      >
        With waits
      </button>
      <button
        type="button"
        aria-pressed={merging.value.merges === "programs"}
        title="One track for all short-lived processes of a program"
        onClick={() => toggleMerging(sequenceState(store))}
      >
        Merge
      </button>
      <input
        type="search"
        aria-label="Find a track"
        placeholder="Find a track"
        value={text}
        onInput={(event) => change({ text: event.currentTarget.value })}
      />
    </div>
  );
}

const KEYS = `W, S: zoom in, out; A, D: left, right
Ctrl with the wheel: zoom at the pointer; drag: move
Shift with a drag: select a time range
F: zoom to the selected message; M: mark it
, and .: previous and next call of the track
0: whole recording; ?: all keys`;

interface SwatchProps {
  readonly name: string;
  readonly title: string;
  readonly children: string;
}

function Swatch({ name, title, children }: SwatchProps): JSX.Element {
  return (
    <li title={title}>
      <span class={`timeline-swatch timeline-swatch-${name}`} /> {children}
    </li>
  );
}

/** The selection in words, for screen readers. */
function Announcement({ timeline }: { readonly timeline: Timeline }): JSX.Element {
  const { store } = timeline;
  const row = store.selected.value;
  const recording = store.recording.value;
  const isKnown = row !== undefined && row < recording.length;
  return (
    <output class="sr-only">{isKnown ? linesOf(recording, row, "waits").join(", ") : ""}</output>
  );
}
