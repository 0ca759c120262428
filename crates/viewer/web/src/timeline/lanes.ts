// Spans of time side by side, so that none covers another, and quick to look at from any distance.

import { isPause, orderOf, type PausableWork } from "./sorting";
import { nanosPerPixel, pixelOf, type Stretch, timeAt } from "./stretch";

/** Lanes side by side, at most; in the last of them what has no room elsewhere runs together. */
export const LANES_MAX = 16;

/** Spans in any order, to be put into lanes. */
export class Spans {
  private readonly from: number[] = [];
  private readonly until: number[] = [];
  private readonly row: number[] = [];
  private readonly isError: number[] = [];
  private readonly busy: number[] = [];
  /** The nanoseconds of the longest span. */
  longest = 0;

  /** Adds a span that stands for a message; `busy` are the nanoseconds of it that count, if not all. */
  add(from: number, until: number, row: number, isError: boolean, busy = until - from): void {
    this.longest = Math.max(this.longest, until - from);
    this.busy.push(busy);
    this.from.push(from);
    this.until.push(Math.max(from, until));
    this.row.push(row);
    this.isError.push(Number(isError));
  }

  get length(): number {
    return this.from.length;
  }

  /** Puts them into at most so many lanes, each into the first that is free. */
  *lanes(most = LANES_MAX): PausableWork<TrackLanes> {
    const from = Float64Array.from(this.from);
    const until = Float64Array.from(this.until);
    yield;
    const order = isAscending(from) ? undefined : yield* orderOf(from);
    const lanes = new Uint8Array(from.length);
    const free = new FreeLanes(most - 1);
    for (let step = 0; step < from.length; step++) {
      const place = order?.[step] ?? step;
      lanes[place] = free.take(from, until, place);
      if (isPause(step)) yield;
    }
    return yield* this.scatter(from, until, order, lanes);
  }

  /** Writes lane after lane. */
  private *scatter(
    from: Float64Array,
    until: Float64Array,
    order: Uint32Array | undefined,
    laneOf: Uint8Array,
  ): PausableWork<TrackLanes> {
    const starts = startsOf(laneOf);
    const next = starts.slice();
    const lanes = new TrackLanes(starts);
    for (let step = 0; step < from.length; step++) {
      const place = order?.[step] ?? step;
      const lane = laneOf[place] as number;
      if (lane === RUNS_TOGETHER) continue;
      const to = next[lane] as number;
      next[lane] = to + 1;
      lanes.from[to] = from[place] as number;
      lanes.until[to] = until[place] as number;
      lanes.row[to] = this.row[place] as number;
      lanes.errors[to + 1] = this.isError[place] as number;
      lanes.busy[to + 1] = this.busy[place] as number;
      if (isPause(step)) yield;
    }
    yield* lanes.sum();
    return lanes;
  }
}

/** Marks what is part of the span before it in the last lane. */
const RUNS_TOGETHER = 255;

/** Until when each lane is taken. */
class FreeLanes {
  private readonly until: Float64Array;
  /** The span that is last in the lane for all that has no room elsewhere. */
  private last = -1;

  constructor(private readonly count: number) {
    this.until = new Float64Array(count).fill(Number.NEGATIVE_INFINITY);
  }

  take(from: Float64Array, until: Float64Array, place: number): number {
    const start = from[place] as number;
    for (let lane = 0; lane < this.count; lane++) {
      if ((this.until[lane] as number) > start) continue;
      this.until[lane] = until[place] as number;
      return lane;
    }
    return this.overflow(from, until, place);
  }

  private overflow(from: Float64Array, until: Float64Array, place: number): number {
    const last = this.last;
    if (last >= 0 && (until[last] as number) > (from[place] as number)) {
      until[last] = Math.max(until[last] as number, until[place] as number);
      return RUNS_TOGETHER;
    }
    this.last = place;
    return this.count;
  }
}

function isAscending(numbers: Float64Array): boolean {
  for (let place = 1; place < numbers.length; place++) {
    if ((numbers[place] as number) < (numbers[place - 1] as number)) return false;
  }
  return true;
}

/** Where each lane begins, and where the last one ends. */
function startsOf(laneOf: Uint8Array): Uint32Array {
  const counts = new Uint32Array(LANES_MAX);
  let lanes = 0;
  for (const lane of laneOf) {
    if (lane === RUNS_TOGETHER) continue;
    counts[lane] = (counts[lane] as number) + 1;
    lanes = Math.max(lanes, lane + 1);
  }
  const starts = new Uint32Array(lanes + 1);
  for (let lane = 0; lane < lanes; lane++) {
    starts[lane + 1] = (starts[lane] as number) + (counts[lane] as number);
  }
  return starts;
}

/** Told of what is to be drawn: the spans from `first` until before `end`, which are one to the eye. */
export type Visit = (first: number, end: number, left: number, right: number) => void;

/**
 * Lanes one after the other, in each spans that follow each other. Sums over all that come before tell
 * of any stretch at once how full it is, and whether there are errors in it.
 */
export class TrackLanes {
  readonly from: Float64Array;
  readonly until: Float64Array;
  readonly row: Uint32Array;
  /** How many errors there are before a place. */
  readonly errors: Uint32Array;
  /** Nanoseconds that count of all spans before a place. */
  readonly busy: Float64Array;

  constructor(private readonly starts: Uint32Array) {
    const length = starts[starts.length - 1] ?? 0;
    this.from = new Float64Array(length);
    this.until = new Float64Array(length);
    this.row = new Uint32Array(length);
    this.errors = new Uint32Array(length + 1);
    this.busy = new Float64Array(length + 1);
  }

  /** How many lanes there are. */
  get count(): number {
    return this.starts.length - 1;
  }

  /** How many spans there are. */
  get length(): number {
    return this.from.length;
  }

  /** Adds to what counts of each span what counts of all before. */
  *sum(): PausableWork<void> {
    for (let place = 0; place < this.from.length; place++) {
      this.busy[place + 1] = (this.busy[place + 1] as number) + (this.busy[place] as number);
      this.errors[place + 1] = (this.errors[place + 1] as number) + (this.errors[place] as number);
      if (isPause(place)) yield;
    }
  }

  /** Where a lane begins. */
  startOf(lane: number): number {
    return this.starts[lane] as number;
  }

  /** The first place of a lane whose span ends at this time or later. */
  endingAt(lane: number, time: number): number {
    return lowerBound(this.until, time, this.startOf(lane), this.startOf(lane + 1));
  }

  /** The first place of a lane whose span begins at this time or later. */
  beginningAt(lane: number, time: number): number {
    return lowerBound(this.from, time, this.startOf(lane), this.startOf(lane + 1));
  }

  /** The place of the span of a message that begins then; undefined if there is none. */
  placeOf(row: number, from: number): { lane: number; place: number } | undefined {
    for (let lane = 0; lane < this.count; lane++) {
      const end = this.startOf(lane + 1);
      for (let place = this.beginningAt(lane, from); place < end; place++) {
        if (this.row[place] === row) return { lane, place };
        if ((this.from[place] as number) > from) break;
      }
    }
    return undefined;
  }

  /** What part of the time from the first to the last of some spans they fill. */
  density(first: number, end: number): number {
    const length = (this.until[end - 1] as number) - (this.from[first] as number);
    return length <= 0 ? 1 : ((this.busy[end] as number) - (this.busy[first] as number)) / length;
  }

  /** How many of some spans are errors. */
  errorsIn(first: number, end: number): number {
    return (this.errors[end] as number) - (this.errors[first] as number);
  }

  /** Tells of the pixels of errors among some spans, each pixel once. */
  visitErrors(first: number, end: number, stretch: Stretch, visit: (x: number) => void): void {
    const pixel = nanosPerPixel(stretch);
    for (let place = first; place < end && this.errorsIn(place, end) > 0; ) {
      // The sum is one more for the first time behind the next error.
      const next = lowerBound(this.errors, (this.errors[place] as number) + 1, place, end + 1) - 1;
      const at = Math.max(this.from[next] as number, stretch.from);
      if (at > stretch.until) return;
      visit(pixelOf(stretch, at));
      place = Math.max(lowerBound(this.from, at + pixel, next, end), next + 1);
    }
  }

  /** What is seen of a lane: spans by themselves, or together where they are closer than a pixel. */
  visit(lane: number, stretch: Stretch, visit: Visit): void {
    const end = this.startOf(lane + 1);
    const pixel = nanosPerPixel(stretch);
    let place = this.endingAt(lane, stretch.from);
    while (place < end && (this.from[place] as number) <= stretch.until) {
      const next = this.runEnd(place, end, pixel);
      const left = pixelOf(stretch, this.from[place] as number);
      visit(place, next, left, pixelOf(stretch, this.until[next - 1] as number));
      place = next;
    }
  }

  /** The places that a pixel and its neighbours show. */
  near(lane: number, stretch: Stretch, x: number, reach: number): { first: number; end: number } {
    const first = this.endingAt(lane, timeAt(stretch, x - reach));
    const until = timeAt(stretch, x + reach);
    const end = lowerBound(this.from, until, first, this.startOf(lane + 1));
    return { first, end };
  }

  /** Behind the last span that is one with this one to the eye. */
  private runEnd(place: number, end: number, pixel: number): number {
    let next = place + 1;
    if (this.isWide(place, pixel)) return next;
    while (next < end) {
      const reach = Math.max(this.until[next - 1] as number, this.from[place] as number) + pixel;
      const further = gallop(this.from, reach, next, end);
      if (further === next) return next;
      next = this.narrowEnd(next, further, pixel);
      if (next < further) return next;
    }
    return next;
  }

  /** Of places that begin within a pixel of each other only the last can be wide. */
  private narrowEnd(first: number, end: number, pixel: number): number {
    return end > first && this.isWide(end - 1, pixel) ? end - 1 : end;
  }

  private isWide(place: number, pixel: number): boolean {
    return (this.until[place] as number) - (this.from[place] as number) > pixel * WIDE;
  }
}

/** Pixels from which on a span is drawn by itself. */
const WIDE = 1.5;

/** The first place in a part of ascending numbers whose number is not less than this one. */
function lowerBound(
  numbers: Float64Array | Uint32Array,
  number: number,
  low: number,
  high: number,
): number {
  let from = low;
  let until = high;
  while (from < until) {
    const middle = (from + until) >>> 1;
    if ((numbers[middle] as number) < number) from = middle + 1;
    else until = middle;
  }
  return from;
}

/** The same, for a place that is near. */
function gallop(numbers: Float64Array, number: number, low: number, high: number): number {
  let step = 1;
  let from = low;
  while (from + step < high && (numbers[from + step] as number) < number) {
    from += step;
    step *= 2;
  }
  return lowerBound(numbers, number, from, Math.min(from + step + 1, high));
}
