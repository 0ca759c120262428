// Messages over time, counted in buckets of equal length.

import type { Span } from "../state/store";

/** Number of message types that are counted separately: `Kind` of the model. */
export const KINDS = 5;

/** Messages by time and type. If more time is needed, pairs of buckets are merged. */
export class Traffic {
  /** Length of a bucket in nanoseconds. */
  width = FIRST_WIDTH;
  /** Number of buckets up to the last one that is not empty. */
  used = 0;
  /** Counts by bucket and type. */
  readonly counts = new Uint32Array(BUCKETS * KINDS);

  /** Counts a message by its time in nanoseconds since the first message. */
  add(at: number, kind: number): void {
    let bucket = at <= 0 ? 0 : Math.floor(at / this.width);
    while (bucket >= BUCKETS) {
      this.fold();
      bucket = Math.floor(at / this.width);
    }
    if (bucket >= this.used) this.used = bucket + 1;
    (this.counts[bucket * KINDS + kind] as number)++;
  }

  /** Removes all messages. The length of buckets stays. */
  clear(): void {
    this.counts.fill(0);
    this.used = 0;
  }

  private fold(): void {
    const { counts } = this;
    for (let place = 0; place < counts.length / 2; place++) {
      const bucket = Math.floor(place / KINDS);
      const first = bucket * KINDS + place;
      counts[place] = (counts[first] as number) + (counts[first + KINDS] as number);
    }
    counts.fill(0, counts.length / 2);
    this.width *= 2;
    this.used = Math.ceil(this.used / 2);
  }
}

/**
 * The messages of each of `columns` equal parts of a time range, by part and type. A bucket that
 * overlaps a part is counted there in proportion.
 */
export function spread(
  traffic: Traffic,
  from: number,
  until: number,
  columns: number,
): Float64Array {
  const found = new Float64Array(columns * KINDS);
  const scale = columns / (until - from);
  const first = Math.max(0, Math.floor(from / traffic.width));
  const last = Math.min(traffic.used, Math.ceil(until / traffic.width));
  for (let bucket = first; bucket < last; bucket++) {
    const start = (bucket * traffic.width - from) * scale;
    share(traffic.counts, bucket, found, start, start + traffic.width * scale, columns);
  }
  return found;
}

/** Distributes a bucket to the columns from `start` to `end`, which need not be whole numbers. */
function share(
  counts: Uint32Array,
  bucket: number,
  found: Float64Array,
  start: number,
  end: number,
  columns: number,
): void {
  const firstColumn = Math.max(0, Math.floor(start));
  const lastColumn = Math.min(columns - 1, Math.ceil(end) - 1);
  for (let column = firstColumn; column <= lastColumn; column++) {
    const part = (Math.min(end, column + 1) - Math.max(start, column)) / (end - start);
    for (let kind = 0; kind < KINDS; kind++) {
      const place = column * KINDS + kind;
      found[place] = (found[place] as number) + (counts[bucket * KINDS + kind] as number) * part;
    }
  }
}

/** The largest number of messages in a column. */
export function highest(columns: Float64Array): number {
  let most = 0;
  for (let at = 0; at < columns.length; at += KINDS)
    most = Math.max(most, totalOf(columns, at / KINDS));
  return most;
}

/** The largest number of messages in an interval, and the length of the interval in nanoseconds. */
export interface Peak {
  readonly messages: number;
  readonly interval: number;
}

/**
 * The busiest interval of one second. If the range is shorter than a second, it is the longest
 * interval that fits. If the buckets are longer, it is the shortest interval that they can
 * represent.
 */
export function peakOf(traffic: Traffic, { from, until }: Span): Peak {
  const length = until - from;
  const short = INTERVALS.findLast((interval) => interval <= Math.min(length, SECOND));
  const fine = INTERVALS.find((interval) => interval >= Math.max(traffic.width, SECOND));
  const interval = length < SECOND ? (short ?? length) : (fine ?? length);
  const columns = Math.max(1, Math.ceil(length / interval));
  const messages = highest(spread(traffic, from, from + columns * interval, columns));
  return { messages: Math.round(messages), interval };
}

/** The messages of all types in a column. */
export function totalOf(columns: ArrayLike<number>, column: number): number {
  let sum = 0;
  for (let kind = 0; kind < KINDS; kind++) sum += columns[column * KINDS + kind] as number;
  return sum;
}

/** Times for an axis in round steps, at most `most` of them. */
export function ticks(from: number, until: number, most: number): number[] {
  const step = roundStep((until - from) / Math.max(1, most));
  const found: number[] = [];
  for (let at = Math.ceil(from / step) * step; at < until; at += step) found.push(at);
  return found;
}

/** The smallest round step of at least this many nanoseconds: decimal, or in units of clocks. */
function roundStep(least: number): number {
  const ofClock = CLOCK_STEPS.map((seconds) => seconds * 1e9).find((step) => step >= least);
  if (least > 10e9 && ofClock !== undefined) return ofClock;
  const decade = 10 ** Math.floor(Math.log10(Math.max(least, 1)));
  return [1, 2, 5, 10].map((times) => times * decade).find((step) => step >= least) ?? least;
}

/** Round steps in units of clocks, in seconds. */
const CLOCK_STEPS = [15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14_400, 28_800, 86_400];

const SECOND = 1e9;

/** Intervals in which messages are counted, in nanoseconds. */
const INTERVALS = [1e6, 1e7, 1e8, SECOND, 1e10, 6e10, 6e11, 3.6e12, 3.6e13];

/** Number of buckets. At least half of them are used once messages span more than one second. */
const BUCKETS = 4096;

/** The initial length of a bucket: a quarter of a millisecond. */
const FIRST_WIDTH = 250_000;
