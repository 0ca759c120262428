// What is looked at on the timeline, and how it is moved.

import { computed, effect, signal } from "@preact/signals";
import { NONE } from "../model/recording";
import { type SequenceState, sequenceState } from "../sequence/state";
import type { Span, Store } from "../state/store";
import { type Arranged, arrangedOn } from "./arrangement";
import { neighbour, type TrackHit } from "./hit";
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

/** The state of a timeline that is on the screen. */
export class Timeline {
  readonly tracks = signal<Tracks | undefined>(undefined);
  /** When each track had a processor; undefined until it is known that this was recorded. */
  readonly processors = signal<readonly (TrackLanes | undefined)[] | undefined>(undefined);
  readonly size = signal({ width: 0, height: 0 });
  readonly scroll = signal(0);
  readonly hit = signal<TrackHit | undefined>(undefined);
  readonly pointer = signal<{ readonly x: number; readonly y: number } | undefined>(undefined);
  readonly band = signal<Span | undefined>(undefined);
  /** Whether what comes last is seen, however much comes. */
  readonly follows = signal(false);
  readonly marked: Arranged["marked"];
  readonly pinned: Arranged["pinned"];
  readonly collapsed: Arranged["collapsed"];
  readonly filter: Arranged["filter"];
  readonly merging: SequenceState["merging"];

  /** The stretch of time that is seen. */
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

  /** What has selected the message that is selected last: if it was this view, nothing has to move. */
  private ownSelection: number | undefined;
  /** What was clicked last. */
  private clicked: TrackHit | undefined;
  /** Has the view scrolled to a track. */
  scrollTo: (top: number) => void = () => {};

  constructor(readonly store: Store) {
    const { marked, pinned, collapsed, filter } = arrangedOn(store);
    this.marked = marked;
    this.pinned = pinned;
    this.collapsed = collapsed;
    this.filter = filter;
    this.merging = sequenceState(store).merging;
  }

  /** Follows what is shown and what is selected; gives what ends that. */
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
        // While a recording is read, its track may come later.
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

  /** Looks at a span of time; at all there is without one, or if it is all there is. */
  look(span: Span | undefined): void {
    this.follows.value = false;
    const { until } = this.whole();
    const isWhole = span !== undefined && span.from <= 0 && span.until >= until;
    this.store.span.value = isWhole ? undefined : span;
  }

  /** Looks at what comes last, for as long as nobody moves. */
  private lookAtEnd(until: number): void {
    const span = this.store.span.peek();
    const length = span === undefined ? FOLLOWED : span.until - span.from;
    this.store.span.value = clamped({ from: until - length, until }, until);
  }

  /** Zooms at a pixel; factors below 1 come closer. */
  zoom(factor: number, x: number): void {
    const stretch = this.stretch.peek();
    this.look(zoomed(stretch, factor, timeAt(stretch, x), this.whole().until));
  }

  /** Moves by a part of what is seen. */
  pan(part: number): void {
    const { from, until } = this.stretch.peek();
    this.look(panned({ from, until }, part * (until - from), this.whole().until));
  }

  /** Selects what is on the screen; comes closer to what cannot be told apart. */
  choose(hit: TrackHit | undefined, x: number): void {
    if (hit !== undefined && hit.end > hit.first + 1) {
      this.zoom(CLOSER, x);
      return;
    }
    this.clicked = hit;
    this.ownSelection = hit?.row;
    this.store.selectMessage(hit?.row);
  }

  /** Looks at the selected message from near; at a marked span if there is none. */
  focus(): void {
    const row = this.store.selected.peek();
    const { until } = this.whole();
    if (row === undefined || this.tracks.peek() === undefined) return;
    this.look(around(this.spanOf(row), until));
    this.scrollToMessage(row);
  }

  /** Marks the selected message, or what is seen, to be found again; a second time ends that. */
  mark(): void {
    const row = this.store.selected.peek();
    const { from, until } = this.stretch.peek();
    const seen = row === undefined ? { from, until } : this.spanOf(row);
    // As the address has it.
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
    const place = at === undefined ? undefined : neighbour(at.lanes, at.place, direction);
    if (at === undefined || place === undefined) return;
    const row = at.lanes.row[place] as number;
    this.store.selectMessage(row);
  }

  /** Pins a track, or not; collapses it, or not. */
  toggle(which: "pinned" | "collapsed", keys: readonly string[]): void {
    const set = new Set(this[which].peek());
    const isOn = keys.every((key) => set.has(key));
    for (const key of keys) {
      if (isOn) set.delete(key);
      else set.add(key);
    }
    this[which].value = set;
  }

  /** From the first to the last message. */
  private whole(): Span {
    return { from: 0, until: Math.max(this.store.recording.peek().end * 1.005, NARROWEST) };
  }

  /** Moves so that a message is seen. */
  private show(row: number): void {
    const stretch = this.stretch.peek();
    const wanted = showing(stretch, this.spanOf(row), this.whole().until);
    if (wanted !== stretch) this.look(clamped(wanted, this.whole().until));
    this.scrollToMessage(row);
    // Of a page that has just been opened, the tracks are not there yet to be scrolled.
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

  /** Where the selected message is: on the track of who serves it, of who waits, or of who sends it. */
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

/** Nanoseconds that are followed at first. */
const FOLLOWED = 10e9;

/** How much closer a click comes to what cannot be told apart. */
const CLOSER = 1 / 8;
