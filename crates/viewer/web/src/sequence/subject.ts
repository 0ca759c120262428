// What a diagram is of: all messages of the page, or one side of a comparison.

import type { ReadonlySignal } from "@preact/signals";
import type { Colours } from "../parts/colours";
import type { Span, Store } from "../state/store";
import type { Scene } from "./model/scene";
import { sceneOf } from "./model/scene";
import type { SequenceState } from "./state";

/** What stays in its place when the messages of a diagram are others. */
export type Anchor =
  /** What is at the top. */
  | "top"
  /** The end while it is seen, else what is at the top. */
  | "end"
  /** Nothing: another diagram says what is seen. */
  | "nothing";

/** What a diagram is of. All of it is read from signals. */
export interface Subject {
  /** The colors that the diagram is painted in. */
  readonly colours: ReadonlySignal<Colours>;
  readonly state: SequenceState;
  readonly anchor: Anchor;
  /** Reads the signals that the scene depends on. */
  watch(): void;
  /**
   * The scene as it is now; what the last one found out may be kept. Undefined while it is not
   * known.
   */
  scene(last: Scene | undefined): Scene | undefined;
  /** The row of the scene that is pointed out. */
  selected(scene: Scene): number | undefined;
  /** Rows of messages that were searched for, in order. */
  hits?(scene: Scene): Uint32Array;
  /** The row that is to be seen when another one is selected. */
  revealed(scene: Scene): number | undefined;
  select(scene: Scene, row: number): void;
  /** The stretch of time that all views look at, as it is here. */
  span(): Span | undefined;
  /** All the time that there is. */
  whole(scene: Scene): Span;
}

/** All messages of the page that are shown. */
export class StoreSubject implements Subject {
  /** What was shown when the scene was made. */
  private shown: Uint32Array = new Uint32Array();

  constructor(
    private readonly store: Store,
    readonly state: SequenceState,
  ) {}

  get colours(): ReadonlySignal<Colours> {
    return this.store.page.colours;
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

  /** While it is paused the recording may go on, and its oldest messages go. */
  private shift({ recording }: Scene): number {
    return this.store.recording.peek().before - recording.before;
  }

  /** Whether the recording is another one, and nobody has said yet what of it is shown. */
  private isBetween(last: Scene | undefined): boolean {
    const isOther = last !== undefined && this.store.recording.value !== last.recording;
    return isOther && this.shown.length > 0 && this.store.visible.value.rows === this.shown;
  }
}

const NO_HITS = new Uint32Array();
