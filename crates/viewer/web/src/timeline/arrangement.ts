// What somebody has arranged on the timeline. It stays while other views are shown.

import { effect, type Signal, signal } from "@preact/signals";
import type { Span, Store } from "../state/store";
import { movedSpan } from "../state/viewFocus";
import { ALL_TRACKS, type TrackFilter } from "./selection";

/** What differs from the default. */
export class Arranged {
  /** Tracks by their keys. */
  readonly pinned = signal<ReadonlySet<string>>(new Set());
  readonly collapsed = signal<ReadonlySet<string>>(new Set());
  /** Which tracks are shown, and in which order. */
  readonly filter = signal<TrackFilter>(ALL_TRACKS);
  /** Spans of time to be found again. */
  readonly marked = signal<readonly Span[]>([]);

  constructor(store: Store) {
    keepMarks(store, this.marked);
  }
}

/** What is arranged on the timeline of this store. */
export function arrangedOn(store: Store): Arranged {
  return store.part(Arranged, () => new Arranged(store));
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
