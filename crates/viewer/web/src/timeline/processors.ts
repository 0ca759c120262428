// Running times of processes on processors, for the visible time range.

import { useSignalEffect } from "@preact/signals";
import type { FrameColumns, Numbers } from "../format/frame";
import type { ColumnName } from "../generated/protocol";
import type { Answered } from "../source/source";
import type { Span, Store } from "../state/store";
import { Spans, type TrackLanes } from "./lanes";
import { finished } from "./sorting";
import type { Timeline } from "./state";
import { nanosPerPixel } from "./stretch";
import type { Tracks } from "./tracks";

/** Running times are requested after this many milliseconds without a movement. */
const SETTLE = 150;

/** Requests the running times after each movement, if the recording has them. */
export function useProcessors(timeline: Timeline, store: Store): void {
  useSignalEffect(() => {
    const { from, until, width } = timeline.stretch.value;
    const tracks = timeline.tracks.value;
    if (tracks === undefined || switchesState(store).isAbsent) return;
    const controller = new AbortController();
    const timer = setTimeout(() => {
      const wider = { from: from - (until - from), until: until + (until - from) };
      const finest = nanosPerPixel({ from, until, width }) / 2;
      ask(store, wider, finest, controller.signal)
        .then((answered) => take(timeline, tracks, answered, store))
        .catch(() => {
          // It was requested again, or the program has stopped, which the page reports elsewhere.
        });
    }, SETTLE);
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
  });
}

/** The known facts about context switches of a recording. */
class SwitchesState {
  /** True if the recording has none. */
  isAbsent = false;
}

function switchesState(store: Store): SwitchesState {
  return store.part(SwitchesState, () => new SwitchesState());
}

function ask(
  store: Store,
  span: Span,
  finest: number,
  abort: AbortSignal,
): Promise<Answered<"switches">> {
  return store.ask({ ask: "switches", from: span.from, until: span.until, finest }, abort);
}

function take(
  timeline: Timeline,
  tracks: Tracks,
  { answer, columns }: Answered<"switches">,
  store: Store,
): void {
  if (answer.is_recorded) timeline.processors.value = processorsOf(columns, tracks);
  else switchesState(store).isAbsent = true;
}

/** The running times of an answer, by track index. */
export function processorsOf(columns: FrameColumns, tracks: Tracks): (TrackLanes | undefined)[] {
  const spans: (Spans | undefined)[] = tracks.tracks.map(() => undefined);
  const column = (name: ColumnName): Numbers => columns.get(name) ?? new Uint8Array(0);
  const [peer, from, until, on] = [column("peer"), column("from"), column("until"), column("on")];
  for (let row = 0; row < peer.length; row++) {
    const track = tracks.trackOf(peer[row] as number);
    if (track === undefined) continue;
    spans[track] ??= new Spans();
    spans[track].add(from[row] as number, until[row] as number, 0, false, on[row] as number);
  }
  return spans.map((one) => (one === undefined ? undefined : finished(one.lanes())));
}
