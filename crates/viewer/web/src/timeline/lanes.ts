// Spans of time in lanes, so that they do not overlap, and fast to draw at any zoom.

import { isPause, orderOf, type PausableWork } from "./sorting";
import { nanosPerPixel, pixelOf, type Stretch, timeAt } from "./stretch";

/** Maximum number of lanes. Spans that do not fit elsewhere are merged in the last one. */
export const LANES_MAX = 16;

/** Spans in any order, from which lanes are built. */
export class Spans {
  private readonly from: number[] = [];
  private readonly until: number[] = [];
  private readonly row: number[] = [];
  private readonly isError: number[] = [];
  private readonly busy: number[] = [];
  /** Length of the longest span, in nanoseconds. */
  longest = 0;

  /** Adds a span for a message. `busy` is the part of its length that counts, in nanoseconds. */
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

  /** Distributes the spans to at most `most` lanes, each to the first free one. */
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

  /** Writes the spans lane by lane. */
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

/** Marks a span that is merged with the one before it in the last lane. */
const RUNS_TOGETHER = 255;

/** The time until which each lane is in use. */
class FreeLanes {
  private readonly until: Float64Array;
  /** The last span in the lane for spans that do not fit elsewhere. */
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

/** The start of each lane, and the end of the last one. */
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

/**
 * Called for spans to draw: those from `first` to before `end`, which are too close to be
 * distinguished.
 */
export type Visit = (first: number, end: number, left: number, right: number) => void;

/**
 * Lanes one after the other, with consecutive spans in each. Prefix sums give the density of any
 * range and the number of its errors in constant time.
 */
export class TrackLanes {
  readonly from: Float64Array;
  readonly until: Float64Array;
  readonly row: Uint32Array;
  /** Number of errors before a position. */
  readonly errors: Uint32Array;
  /** Nanoseconds that count, of all spans before a position. */
  readonly busy: Float64Array;

  constructor(private readonly starts: Uint32Array) {
    const length = starts[starts.length - 1] ?? 0;
    this.from = new Float64Array(length);
    this.until = new Float64Array(length);
    this.row = new Uint32Array(length);
    this.errors = new Uint32Array(length + 1);
    this.busy = new Float64Array(length + 1);
  }

  /** Number of lanes. */
  get count(): number {
    return this.starts.length - 1;
  }

  /** Number of spans. */
  get length(): number {
    return this.from.length;
  }

  /** Computes the prefix sums. */
  *sum(): PausableWork<void> {
    for (let place = 0; place < this.from.length; place++) {
      this.busy[place + 1] = (this.busy[place + 1] as number) + (this.busy[place] as number);
      this.errors[place + 1] = (this.errors[place + 1] as number) + (this.errors[place] as number);
      if (isPause(place)) yield;
    }
  }

  /** The start of a lane. */
  startOf(lane: number): number {
    return this.starts[lane] as number;
  }

  /** The first position of a lane whose span ends at or after a time. */
  endingAt(lane: number, time: number): number {
    return lowerBound(this.until, time, this.startOf(lane), this.startOf(lane + 1));
  }

  /** The first position of a lane whose span begins at or after a time. */
  beginningAt(lane: number, time: number): number {
    return lowerBound(this.from, time, this.startOf(lane), this.startOf(lane + 1));
  }

  /** The position of the span of a message that begins at `from`; undefined if there is none. */
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

  /** The part of the time that some spans fill, from the first to the last. */
  density(first: number, end: number): number {
    const length = (this.until[end - 1] as number) - (this.from[first] as number);
    return length <= 0 ? 1 : ((this.busy[end] as number) - (this.busy[first] as number)) / length;
  }

  /** Number of errors among some spans. */
  errorsIn(first: number, end: number): number {
    return (this.errors[end] as number) - (this.errors[first] as number);
  }

  /** Visits each pixel that has errors among some spans, once. */
  visitErrors(first: number, end: number, stretch: Stretch, visit: (x: number) => void): void {
    const pixel = nanosPerPixel(stretch);
    for (let place = first; place < end && this.errorsIn(place, end) > 0; ) {
      // The sum increases by one at the next error.
      const next = lowerBound(this.errors, (this.errors[place] as number) + 1, place, end + 1) - 1;
      const at = Math.max(this.from[next] as number, stretch.from);
      if (at > stretch.until) return;
      visit(pixelOf(stretch, at));
      place = Math.max(lowerBound(this.from, at + pixel, next, end), next + 1);
    }
  }

  /** Visits the visible spans of a lane: single ones, or groups that are closer than a pixel. */
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

  /** The spans at a pixel and its neighbors. */
  near(lane: number, stretch: Stretch, x: number, reach: number): { first: number; end: number } {
    const first = this.endingAt(lane, timeAt(stretch, x - reach));
    const until = timeAt(stretch, x + reach);
    const end = lowerBound(this.from, until, first, this.startOf(lane + 1));
    return { first, end };
  }

  /** The end of the spans that cannot be distinguished from this one. */
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

  /** Of spans that begin within a pixel of each other, only the last one can be wide. */
  private narrowEnd(first: number, end: number, pixel: number): number {
    return end > first && this.isWide(end - 1, pixel) ? end - 1 : end;
  }

  private isWide(place: number, pixel: number): boolean {
    return (this.until[place] as number) - (this.from[place] as number) > pixel * WIDE;
  }
}

/** Minimum width of a span that is drawn separately, in pixels. */
const WIDE = 1.5;

/** The first index in a part of ascending numbers whose number is at least this one. */
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

/** The same, for an index that is near. */
function gallop(numbers: Float64Array, number: number, low: number, high: number): number {
  let step = 1;
  let from = low;
  while (from + step < high && (numbers[from + step] as number) < number) {
    from += step;
    step *= 2;
  }
  return lowerBound(numbers, number, from, Math.min(from + step + 1, high));
}
