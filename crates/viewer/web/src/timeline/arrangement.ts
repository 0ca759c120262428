// The arrangement of the timeline by the user. It is kept while other views are displayed.

import { effect, type Signal, signal } from "@preact/signals";
import type { Span, Store } from "../state/store";
import { movedSpan } from "../state/viewFocus";
import { ALL_TRACKS, type TrackFilter } from "./selection";

/** Differences from the default arrangement. */
export class Arranged {
  /** Pinned tracks, by their keys. */
  readonly pinned = signal<ReadonlySet<string>>(new Set());
  readonly collapsed = signal<ReadonlySet<string>>(new Set());
  /** The displayed tracks, and their order. */
  readonly filter = signal<TrackFilter>(ALL_TRACKS);
  /** Marked time ranges. */
  readonly marked = signal<readonly Span[]>([]);

  constructor(store: Store) {
    keepMarks(store, this.marked);
  }
}

/** The arrangement of the timeline of this store. */
export function arrangedOn(store: Store): Arranged {
  return store.part(Arranged, () => new Arranged(store));
}

/**
 * Adjusts marks when the oldest messages of a bus are dropped, because times count from the first
 * one.
 */
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
