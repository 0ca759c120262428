// Vertical positions of tracks.

import type { Track, TrackSection } from "./tracks";

/** Height of the ruler, in pixels. */
export const RULER = 24;
export const LANE = 16;
const POINTS = 12;
const STRIP = 6;
const MARGIN = 5;
const GAP = 2;
/** Minimum height of a track: two lines of text. */
const TRACK_LEAST = 42;
const COLLAPSED = 26;
/** Maximum part of the view for pinned tracks. */
const PINNED_MOST = 0.5;

/** A section with its position in its track. */
export interface PlacedSection {
  readonly section: TrackSection;
  readonly top: number;
  /** Height of one lane. In a collapsed track all lanes share one. */
  readonly height: number;
}

/** A track with its position, relative to the pinned or the scrolling part. */
export interface Placed {
  readonly track: Track;
  readonly top: number;
  readonly height: number;
  readonly isPinned: boolean;
  readonly isCollapsed: boolean;
  readonly sections: readonly PlacedSection[];
}

/** All tracks with their positions. Pinned tracks come first and do not scroll. */
export interface Layout {
  readonly placed: readonly Placed[];
  /** Positions by track index; undefined for hidden tracks. */
  readonly byTrack: readonly (Placed | undefined)[];
  readonly pinnedHeight: number;
  readonly height: number;
}

/** The displayed tracks, and deviations from the default, by key. */
export interface Arrangement {
  /** The indices of the displayed tracks, in order. */
  readonly shown: readonly number[];
  readonly pinned: ReadonlySet<string>;
  readonly collapsed: ReadonlySet<string>;
  readonly hasProcessors: boolean;
  /** Height of the view in pixels. */
  readonly viewHeight: number;
}

/** Computes the positions of tracks. */
export function layoutOf(tracks: readonly Track[], arrangement: Arrangement): Layout {
  const byTrack: (Placed | undefined)[] = tracks.map(() => undefined);
  const most = arrangement.viewHeight * PINNED_MOST;
  let pinnedHeight = 0;
  let height = 0;
  const place = (track: Track, number: number, top: number, isPinned: boolean): number => {
    const placed = placedAt(track, top, isPinned, arrangement);
    byTrack[number] = placed;
    return top + placed.height;
  };
  const shown = arrangement.shown.flatMap((number): [number, Track][] => {
    const track = tracks[number];
    return track === undefined ? [] : [[number, track]];
  });
  for (const [number, track] of shown) {
    if (!arrangement.pinned.has(track.key) || pinnedHeight > most) continue;
    pinnedHeight = place(track, number, pinnedHeight, true);
  }
  for (const [number, track] of shown) {
    if (byTrack[number] === undefined) height = place(track, number, height, false);
  }
  const placed = byTrack.filter((one) => one !== undefined);
  const order = (one: Placed): number => (one.isPinned ? 0 : pinnedHeight) + one.top;
  placed.sort((one, other) => order(one) - order(other));
  return { placed, byTrack, pinnedHeight, height };
}

/** The position of the processor strip in a track. */
export const STRIP_PLACE = { top: MARGIN - 1, height: STRIP - 2 };

function placedAt(track: Track, top: number, isPinned: boolean, arrangement: Arrangement): Placed {
  const isCollapsed = arrangement.collapsed.has(track.key);
  let bottom = MARGIN + (arrangement.hasProcessors ? STRIP : 0);
  const sections: PlacedSection[] = [];
  for (const section of track.sections) {
    const height = section.role === "sends" ? POINTS : LANE;
    sections.push({ section, top: bottom, height });
    if (!isCollapsed) bottom += height * section.lanes.count + GAP;
  }
  const height = isCollapsed ? COLLAPSED : Math.max(TRACK_LEAST, bottom + MARGIN - GAP);
  return { track, top, height, isPinned, isCollapsed, sections };
}

/** The position of the upper edge of a track in the view, below the ruler. */
export function screenTop(layout: Layout, placed: Placed, scroll: number): number {
  return RULER + placed.top + (placed.isPinned ? 0 : layout.pinnedHeight - scroll);
}

/** The visible tracks with their positions. */
export function* seen(
  layout: Layout,
  scroll: number,
  viewHeight: number,
): Generator<{ readonly placed: Placed; readonly top: number }> {
  for (const placed of layout.placed) {
    const top = screenTop(layout, placed, scroll);
    const least = placed.isPinned ? RULER : RULER + layout.pinnedHeight;
    if (top + placed.height > least && top < viewHeight) yield { placed, top };
  }
}

/** The upper edge of a lane in its track. */
export function laneTop({ top, height }: PlacedSection, lane: number, placed: Placed): number {
  return placed.isCollapsed ? top : top + lane * height;
}
