// Finds the object below the pointer, and its neighbors.

import type { TrackLanes } from "./lanes";
import { type Layout, laneTop, type Placed, RULER, seen } from "./layout";
import type { Stretch } from "./stretch";
import type { Role } from "./tracks";

/** Spans of a lane at a point: one, or several that are too close to be distinguished. */
export interface TrackHit {
  readonly track: number;
  readonly role: Role;
  readonly lanes: TrackLanes;
  readonly first: number;
  readonly end: number;
  /** The message of the first span. */
  readonly row: number;
}

/** Distance in pixels by which the pointer may miss. */
const REACH = 2;

/** The object at a point of the view. */
export function hitAt(
  layout: Layout,
  stretch: Stretch,
  scroll: number,
  point: { readonly x: number; readonly y: number },
): TrackHit | undefined {
  const placed = trackAt(layout, scroll, point.y);
  if (placed === undefined) return undefined;
  const y = point.y - placed.top;
  for (const one of placed.placed.sections) {
    for (let lane = 0; lane < one.section.lanes.count; lane++) {
      const top = laneTop(one, lane, placed.placed);
      if (y < top || y >= top + one.height) continue;
      const hit = inLane(one.section.lanes, lane, stretch, point.x);
      if (hit === undefined) continue;
      const track = layout.byTrack.indexOf(placed.placed);
      return { track, role: one.section.role, lanes: one.section.lanes, ...hit };
    }
  }
  return undefined;
}

/** The track at a height of the view, and its start. */
export function trackAt(
  layout: Layout,
  scroll: number,
  y: number,
): { readonly placed: Placed; readonly top: number } | undefined {
  if (y < RULER) return undefined;
  const isPinned = y < RULER + layout.pinnedHeight;
  for (const one of seen(layout, scroll, y + 1)) {
    const { placed, top } = one;
    if (placed.isPinned === isPinned && y >= top && y < top + placed.height) return one;
  }
  return undefined;
}

function inLane(
  lanes: TrackLanes,
  lane: number,
  stretch: Stretch,
  x: number,
): { first: number; end: number; row: number } | undefined {
  for (const reach of [0.5, REACH]) {
    const { first, end } = lanes.near(lane, stretch, x, reach);
    if (first < end) return { first, end, row: lanes.row[first] as number };
  }
  return undefined;
}

/**
 * The next span of some lanes that begins after this one, or the last one that begins before it.
 */
export function neighbor(lanes: TrackLanes, place: number, direction: 1 | -1): number | undefined {
  let best: number | undefined;
  for (let lane = 0; lane < lanes.count; lane++) {
    const found = nextIn(lanes, lane, place, direction);
    if (found === undefined) continue;
    if (best === undefined || isCloser(lanes, found, best, direction)) best = found;
  }
  return best;
}

function isCloser(lanes: TrackLanes, one: number, other: number, direction: 1 | -1): boolean {
  const ahead = direction * ((lanes.from[other] as number) - (lanes.from[one] as number));
  return ahead > 0 || (ahead === 0 && direction * (other - one) > 0);
}

/** Spans that begin at the same time are ordered by position. */
function nextIn(
  lanes: TrackLanes,
  lane: number,
  place: number,
  direction: 1 | -1,
): number | undefined {
  const from = lanes.from[place] as number;
  const isAfter = (other: number): boolean => {
    const start = lanes.from[other] as number;
    return start === from ? other > place : start > from;
  };
  const start = lanes.startOf(lane);
  const end = lanes.startOf(lane + 1);
  let next = lanes.beginningAt(lane, from);
  while (next < end && !isAfter(next) && (lanes.from[next] as number) === from) next++;
  if (direction === 1) return next < end ? next : undefined;
  const isItself = (other: number): boolean => other === place;
  let last = next - 1;
  while (last >= start && (isItself(last) || isAfter(last))) last--;
  return last >= start ? last : undefined;
}
