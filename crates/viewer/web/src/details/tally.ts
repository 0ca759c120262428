// Statistics of calls, updated incrementally. Independent of the DOM.

import { Flag, Kind, NONE, type Recording } from "../model/recording";

/** The durations of calls, and the number of calls without an answer. */
export class DurationTally {
  answered = 0;
  /** The number of answered calls that failed with an error. */
  failed = 0;
  private readonly counts = new Uint32Array(CLASSES);
  private readonly slow: { readonly row: number; readonly duration: number }[] = [];
  /** Calls whose reply can still arrive. */
  private open: number[] = [];
  private min = Number.POSITIVE_INFINITY;
  private max = 0;

  constructor(private readonly recording: Recording) {}

  /** Adds a call to the statistics. */
  add(row: number): void {
    const reply = this.recording.partner.get(row);
    if (reply !== NONE) this.answer(row, reply);
    else if ((this.recording.flags.get(row) & Flag.NoReplyExpected) === 0) this.open.push(row);
  }

  /** Checks open calls for replies that have arrived since. */
  checkOpen(): void {
    const open = this.open;
    this.open = [];
    for (const row of open) this.add(row);
  }

  /** The number of calls that expect an answer and have none. */
  get unanswered(): number {
    return this.open.length;
  }

  /** The rows of the slowest calls, the slowest first. */
  get slowest(): readonly number[] {
    return this.slow.map(({ row }) => row);
  }

  /** The distribution of durations; undefined for fewer than two calls. */
  get histogram(): Histogram | undefined {
    if (this.answered < 2) return undefined;
    const first = classOf(this.min);
    const last = classOf(this.max);
    const width = Math.ceil((last - first + 1) / BARS_MAX);
    const counts: number[] = [];
    for (let from = first; from <= last; from += width) {
      counts.push(this.counts.subarray(from, from + width).reduce((sum, count) => sum + count, 0));
    }
    return { min: this.min, max: this.max, first, width, counts };
  }

  private answer(row: number, reply: number): void {
    const duration = this.recording.durationOf(row) ?? 0;
    this.answered++;
    if (this.recording.kind.get(reply) === Kind.Error) this.failed++;
    this.min = Math.min(this.min, duration);
    this.max = Math.max(this.max, duration);
    const place = classOf(duration);
    this.counts[place] = (this.counts[place] ?? 0) + 1;
    this.rank(row, duration);
  }

  private rank(row: number, duration: number): void {
    const { slow } = this;
    const last = slow.at(-1);
    if (slow.length === SLOWEST_MAX && last !== undefined && duration <= last.duration) return;
    const behind = slow.findIndex((other) => other.duration < duration);
    slow.splice(behind === -1 ? slow.length : behind, 0, { row, duration });
    slow.length = Math.min(slow.length, SLOWEST_MAX);
  }
}

/** A histogram of durations on a logarithmic scale. */
export interface Histogram {
  readonly min: number;
  readonly max: number;
  /** The first class of the first bar, and the number of classes per bar. */
  readonly first: number;
  readonly width: number;
  readonly counts: readonly number[];
}

/** The bar that contains a duration. */
export function barOf({ first, width, counts }: Histogram, duration: number): number {
  const bar = Math.floor((classOf(duration) - first) / width);
  return Math.max(0, Math.min(bar, counts.length - 1));
}

/** The range of durations of a bar. */
export function barRange({ first, width }: Histogram, bar: number): [number, number] {
  const start = (place: number): number => 2 ** (place / CLASSES_PER_OCTAVE);
  return [start(first + bar * width), start(first + (bar + 1) * width)];
}

/** The class of a duration. Each class begins 4 % above the one before. */
function classOf(duration: number): number {
  const place = Math.floor(Math.log2(Math.max(1, duration)) * CLASSES_PER_OCTAVE);
  return Math.min(place, CLASSES - 1);
}

const CLASSES_PER_OCTAVE = 16;
/** Enough classes for durations of more than two years in nanoseconds. */
const CLASSES = 56 * CLASSES_PER_OCTAVE;
const BARS_MAX = 24;
const SLOWEST_MAX = 5;
