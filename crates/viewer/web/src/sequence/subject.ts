// The messages of a diagram: all messages of the page, or one side of a comparison.

import type { ReadonlySignal } from "@preact/signals";
import type { Colors } from "../parts/colors";
import type { Span, Store } from "../state/store";
import type { Scene } from "./model/scene";
import { sceneOf } from "./model/scene";
import type { SequenceState } from "./state";

/** The position that stays fixed when the messages of a diagram change. */
export type Anchor =
  /** The upper edge. */
  | "top"
  /** The end while it is visible, otherwise the upper edge. */
  | "end"
  /** No position: the diagram follows another one. */
  | "nothing";

/** The messages of a diagram. All of it is read from signals. */
export interface Subject {
  /** The colors of the diagram. */
  readonly colors: ReadonlySignal<Colors>;
  readonly state: SequenceState;
  readonly anchor: Anchor;
  /** Reads the signals that the scene depends on. */
  watch(): void;
  /** The current scene, which may reuse data of the last one. Undefined while it is unknown. */
  scene(last: Scene | undefined): Scene | undefined;
  /** The row of the selected message. */
  selected(scene: Scene): number | undefined;
  /** Rows of search hits, in order. */
  hits?(scene: Scene): Uint32Array;
  /** The row to scroll into view when the selection changes. */
  revealed(scene: Scene): number | undefined;
  select(scene: Scene, row: number): void;
  /** The selected time range of all views, relative to this recording. */
  span(): Span | undefined;
  /** The complete time range. */
  whole(scene: Scene): Span;
}

/** All displayed messages of the page. */
export class StoreSubject implements Subject {
  /** The displayed messages when the scene was computed. */
  private shown: Uint32Array = new Uint32Array();

  constructor(
    private readonly store: Store,
    readonly state: SequenceState,
  ) {}

  get colors(): ReadonlySignal<Colors> {
    return this.store.page.colors;
  }

  get anchor(): Anchor {
    return this.store.isLive.value ? "end" : "top";
  }

  watch(): void {
    const { store, state } = this;
    void [store.recording.value, store.visible.value, store.hidden.value, store.span.value];
    void [state.grouping.value, state.order.value, state.folding.value];
    void state.merging.value;
  }

  scene(last: Scene | undefined): Scene | undefined {
    if (this.isBetween(last)) return undefined;
    const { store, state } = this;
    const recording = store.recording.value;
    this.shown = store.visible.value.rows;
    const rows = store.shown.value;
    const columns = {
      grouping: state.grouping.value,
      order: state.order.value,
      hidden: store.hidden.value,
      merging: state.merging.value,
      growth: store.isLive.value ? ("live" as const) : ("complete" as const),
    };
    return sceneOf(recording, rows, state.folding.value, columns, last);
  }

  selected(scene: Scene): number | undefined {
    const selected = this.store.selected.value;
    return selected === undefined ? undefined : selected + this.shift(scene);
  }

  hits({ recording }: Scene): Uint32Array {
    const hits = this.store.hits.value;
    return hits?.recording === recording ? hits.rows : NO_HITS;
  }

  revealed(scene: Scene): number | undefined {
    return this.selected(scene);
  }

  select(scene: Scene, row: number): void {
    this.store.selectMessage(row - this.shift(scene));
  }

  span(): Span | undefined {
    return this.store.span.peek();
  }

  whole({ recording }: Scene): Span {
    return { from: 0, until: Math.max(1, recording.end) };
  }

  /** While the page is paused, the recording may drop its oldest messages. */
  private shift({ recording }: Scene): number {
    return this.store.recording.peek().before - recording.before;
  }

  /** True if the recording was replaced, and the displayed messages are not known yet. */
  private isBetween(last: Scene | undefined): boolean {
    const isOther = last !== undefined && this.store.recording.value !== last.recording;
    return isOther && this.shown.length > 0 && this.store.visible.value.rows === this.shown;
  }
}

const NO_HITS = new Uint32Array();
