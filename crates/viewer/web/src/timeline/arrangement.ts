// What somebody has arranged on the timeline. It stays while other views are shown.

import { effect, type Signal, signal } from "@preact/signals";
import { movedSpan } from "../state/moved";
import type { Span, Store } from "../state/store";
import { ALL_TRACKS, type TrackFilter } from "./selection";

/** What is not as usual. */
export interface Arranged {
  /** Tracks by their keys. */
  readonly pinned: Signal<ReadonlySet<string>>;
  readonly collapsed: Signal<ReadonlySet<string>>;
  /** Which tracks are shown, and in which order. */
  readonly filter: Signal<TrackFilter>;
  /** Spans of time to be found again. */
  readonly marked: Signal<readonly Span[]>;
}

const arrangements = new WeakMap<Store, Arranged>();

/** What is arranged on the timeline of this store. */
export function arrangedOn(store: Store): Arranged {
  const known = arrangements.get(store);
  if (known !== undefined) return known;
  const arranged: Arranged = {
    pinned: signal(new Set<string>()),
    collapsed: signal(new Set<string>()),
    filter: signal(ALL_TRACKS),
    marked: signal([]),
  };
  arrangements.set(store, arranged);
  keepMarks(store, arranged.marked);
  return arranged;
}

/** Keeps marks where they are when the oldest messages of a bus go, from the first of which times count. */
function keepMarks(store: Store, marked: Signal<readonly Span[]>): void {
  let last = store.recording.peek();
  effect(() => {
    const next = store.recording.value;
    const later = last.length === 0 ? 0 : Number(next.start - last.start);
    last = next;
    if (later === 0) return;
    const moved = marked.peek().map((span) => movedSpan(span, later));
    marked.value = moved.filter((span) => span !== undefined);
  });
}
