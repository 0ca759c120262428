// Where tracks are, from top to bottom.

import type { Track, TrackSection } from "./tracks";

/** Heights in pixels. */
export const RULER = 24;
export const LANE = 16;
const POINTS = 12;
const STRIP = 6;
const MARGIN = 5;
const GAP = 2;
/** Room for two lines of text. */
const TRACK_LEAST = 42;
const COLLAPSED = 26;
/** The part of the view that pinned tracks may have. */
const PINNED_MOST = 0.5;

/** A section on its place in its track. */
export interface PlacedSection {
  readonly section: TrackSection;
  readonly top: number;
  /** Of one lane; all are on one if the track is collapsed. */
  readonly height: number;
}

/** A track on its place. Tops count from where its part, pinned or not, begins. */
export interface Placed {
  readonly track: Track;
  readonly top: number;
  readonly height: number;
  readonly isPinned: boolean;
  readonly isCollapsed: boolean;
  readonly sections: readonly PlacedSection[];
}

/** All tracks on their places: those that are pinned first, which do not move with the others. */
export interface Layout {
  readonly placed: readonly Placed[];
  /** By the places of tracks. */
  readonly byTrack: readonly (Placed | undefined)[];
  readonly pinnedHeight: number;
  readonly height: number;
}

/** Which tracks are shown, and which are not as usual, by their keys. */
export interface Arrangement {
  /** The places of the tracks that are shown, in their order. */
  readonly shown: readonly number[];
  readonly pinned: ReadonlySet<string>;
  readonly collapsed: ReadonlySet<string>;
  readonly hasProcessors: boolean;
  /** Pixels of the view. */
  readonly viewHeight: number;
}

/** Puts tracks on their places. */
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

/** Where the processor strip of a track is, from its top. */
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

/** The pixel of the top of a track in the view, below the ruler. */
export function screenTop(layout: Layout, placed: Placed, scroll: number): number {
  return RULER + placed.top + (placed.isPinned ? 0 : layout.pinnedHeight - scroll);
}

/** The tracks of which something is seen, and where. */
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

/** The top of a lane in its track. */
export function laneTop({ top, height }: PlacedSection, lane: number, placed: Placed): number {
  return placed.isCollapsed ? top : top + lane * height;
}
