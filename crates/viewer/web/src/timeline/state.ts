// The state of the timeline: the visible range, its movements and the selection.

import { computed, effect, signal } from "@preact/signals";
import { NONE } from "../model/recording";
import { type SequenceState, sequenceState } from "../sequence/state";
import type { Span, Store } from "../state/store";
import { type Arranged, arrangedOn } from "./arrangement";
import { neighbor, type TrackHit } from "./hit";
import type { TrackLanes } from "./lanes";
import { type Layout, layoutOf, screenTop } from "./layout";
import { placeOf } from "./overlay";
import { selectedTracks } from "./selection";
import {
  around,
  clamped,
  NARROWEST,
  panned,
  type Stretch,
  showing,
  timeAt,
  zoomed,
} from "./stretch";
import { type Tracks, tracksOf } from "./tracks";
import { Worker } from "./work";

/** The state of a timeline on the screen. */
export class Timeline {
  readonly tracks = signal<Tracks | undefined>(undefined);
  /**
   * Running times on processors, by track; undefined until the page knows that they were recorded.
   */
  readonly processors = signal<readonly (TrackLanes | undefined)[] | undefined>(undefined);
  readonly size = signal({ width: 0, height: 0 });
  readonly scroll = signal(0);
  readonly hit = signal<TrackHit | undefined>(undefined);
  readonly pointer = signal<{ readonly x: number; readonly y: number } | undefined>(undefined);
  readonly band = signal<Span | undefined>(undefined);
  /** True if the view follows the newest messages. */
  readonly follows = signal(false);
  readonly marked: Arranged["marked"];
  readonly pinned: Arranged["pinned"];
  readonly collapsed: Arranged["collapsed"];
  readonly filter: Arranged["filter"];
  readonly merging: SequenceState["merging"];

  /** The visible time range. */
  readonly stretch = computed<Stretch>(() => {
    this.store.grown.value;
    const span = this.store.span.value;
    const width = Math.max(this.size.value.width, 1);
    return span === undefined ? { ...this.whole(), width } : { ...span, width };
  });

  readonly layout = computed<Layout>(() =>
    layoutOf(this.tracks.value?.tracks ?? [], {
      shown: selectedTracks(this.tracks.value?.tracks ?? [], this.filter.value),
      pinned: this.pinned.value,
      collapsed: this.collapsed.value,
      hasProcessors: this.processors.value !== undefined,
      viewHeight: this.size.value.height,
    }),
  );

  /** The message that this view selected last. The view does not scroll to its own selection. */
  private ownSelection: number | undefined;
  /** The last clicked object. */
  private clicked: TrackHit | undefined;
  /** Scrolls the view to a track. */
  scrollTo: (top: number) => void = () => {};

  constructor(readonly store: Store) {
    const { marked, pinned, collapsed, filter } = arrangedOn(store);
    this.marked = marked;
    this.pinned = pinned;
    this.collapsed = collapsed;
    this.filter = filter;
    this.merging = sequenceState(store).merging;
  }

  /** Follows the displayed messages and the selection. Returns a function that ends that. */
  follow(): () => void {
    const worker = new Worker<Tracks>((tracks) => {
      this.hit.value = undefined;
      this.tracks.value = tracks;
    });
    const ends = [
      effect(() => {
        const visible = this.store.visible.value;
        const merging = this.merging.value;
        const recording = this.store.recording.peek();
        worker.begin(() => tracksOf(recording, visible, merging));
      }),
      effect(() => {
        const row = this.store.selected.value;
        const isKnown = this.tracks.value !== undefined;
        if (row === undefined || !isKnown || row === this.ownSelection) return;
        // While a recording is being loaded, the track may appear later.
        if ((this.placeOf(row)?.placed.length ?? 0) === 0) return;
        this.ownSelection = row;
        this.show(row);
      }),
      effect(() => {
        const end = this.tracks.value?.end;
        if (this.follows.value && end !== undefined) this.lookAtEnd(end);
      }),
      () => worker.stop(),
    ];
    return () => {
      for (const end of ends) end();
    };
  }

  /** Displays a time range, or everything if it is undefined or the whole range. */
  look(span: Span | undefined): void {
    this.follows.value = false;
    const { until } = this.whole();
    const isWhole = span !== undefined && span.from <= 0 && span.until >= until;
    this.store.span.value = isWhole ? undefined : span;
  }

  /** Displays the newest messages, until the user scrolls. */
  private lookAtEnd(until: number): void {
    const span = this.store.span.peek();
    const length = span === undefined ? FOLLOWED : span.until - span.from;
    this.store.span.value = clamped({ from: until - length, until }, until);
  }

  /** Zooms at a pixel; a factor below 1 zooms in. */
  zoom(factor: number, x: number): void {
    const stretch = this.stretch.peek();
    this.look(zoomed(stretch, factor, timeAt(stretch, x), this.whole().until));
  }

  /** Scrolls by a part of the visible range. */
  pan(part: number): void {
    const { from, until } = this.stretch.peek();
    this.look(panned({ from, until }, part * (until - from), this.whole().until));
  }

  /** Selects an object; zooms in on objects that are too close to be distinguished. */
  choose(hit: TrackHit | undefined, x: number): void {
    if (hit !== undefined && hit.end > hit.first + 1) {
      this.zoom(CLOSER, x);
      return;
    }
    this.clicked = hit;
    this.ownSelection = hit?.row;
    this.store.selectMessage(hit?.row);
  }

  /** Zooms in on the selected message, or on a marked range if no message is selected. */
  focus(): void {
    const row = this.store.selected.peek();
    const { until } = this.whole();
    if (row === undefined || this.tracks.peek() === undefined) return;
    this.look(around(this.spanOf(row), until));
    this.scrollToMessage(row);
  }

  /** Marks the selected message or the visible range, or removes the mark. */
  mark(): void {
    const row = this.store.selected.peek();
    const { from, until } = this.stretch.peek();
    const seen = row === undefined ? { from, until } : this.spanOf(row);
    // Rounded like in the address.
    const span = { from: Math.round(seen.from), until: Math.round(seen.until) };
    const isSame = (one: Span): boolean => one.from === span.from && one.until === span.until;
    const marked = this.marked.peek();
    this.marked.value = marked.some(isSame)
      ? marked.filter((one) => !isSame(one))
      : [...marked, span];
  }

  /** Selects the next or previous span of the same track. */
  step(direction: 1 | -1): void {
    const at = this.selectedPlace();
    const place = at === undefined ? undefined : neighbor(at.lanes, at.place, direction);
    if (at === undefined || place === undefined) return;
    const row = at.lanes.row[place] as number;
    this.store.selectMessage(row);
  }

  /** Pins or collapses tracks, or reverts that. */
  toggle(which: "pinned" | "collapsed", keys: readonly string[]): void {
    const set = new Set(this[which].peek());
    const isOn = keys.every((key) => set.has(key));
    for (const key of keys) {
      if (isOn) set.delete(key);
      else set.add(key);
    }
    this[which].value = set;
  }

  /** The range from the first to the last message. */
  private whole(): Span {
    return { from: 0, until: Math.max(this.store.recording.peek().end * 1.005, NARROWEST) };
  }

  /** Scrolls a message into view. */
  private show(row: number): void {
    const stretch = this.stretch.peek();
    const wanted = showing(stretch, this.spanOf(row), this.whole().until);
    if (wanted !== stretch) this.look(clamped(wanted, this.whole().until));
    this.scrollToMessage(row);
    // When the page has just been opened, the tracks do not exist yet.
    requestAnimationFrame(() => requestAnimationFrame(() => this.scrollToMessage(row)));
  }

  private spanOf(row: number): Span {
    return this.placeOf(row)?.span ?? { from: 0, until: 0 };
  }

  private placeOf(row: number): ReturnType<typeof placeOf> | undefined {
    const tracks = this.tracks.peek();
    const recording = this.store.recording.peek();
    if (tracks === undefined || row >= recording.length) return undefined;
    return placeOf({ recording, tracks, layout: this.layout.peek() }, row);
  }

  private scrollToMessage(row: number): void {
    const layout = this.layout.peek();
    const placed = this.placeOf(row)?.placed.find((one) => !one.isPinned);
    if (placed === undefined) return;
    const scroll = this.scroll.peek();
    const top = screenTop(layout, placed, scroll);
    const { height } = this.size.peek();
    const isSeen = top >= layout.pinnedHeight && top + placed.height <= height;
    if (!isSeen) this.scrollTo(placed.top - (height - layout.pinnedHeight - placed.height) / 3);
  }

  /**
   * The span of the selected message: on the track of its callee, of its caller, or of its sender.
   */
  private selectedPlace(): { lanes: TrackLanes; place: number } | undefined {
    const row = this.store.selected.peek();
    const tracks = this.tracks.peek();
    if (row === undefined || tracks === undefined) return undefined;
    const recording = this.store.recording.peek();
    const call = recording.callOf(row);
    const owner = tracks.trackOf(recording.from.get(call === NONE ? row : call));
    const own = owner === undefined ? [] : (tracks.tracks[owner]?.sections ?? []);
    const clicked = this.clicked === undefined ? [] : [this.clicked.lanes];
    for (const lanes of [...clicked, ...own.map((section) => section.lanes)]) {
      const place = Math.max(lanes.row.indexOf(row), lanes.row.indexOf(call));
      if (place >= 0) return { lanes, place };
    }
    return undefined;
  }
}

/** Length of the followed range at first, in nanoseconds. */
const FOLLOWED = 10e9;

/** Zoom factor of a click on objects that are too close to be distinguished. */
const CLOSER = 1 / 8;
