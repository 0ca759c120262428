// What became of calls, counted as they come. No DOM.

import { Flag, Kind, NONE, type Recording } from "../model/recording";

/** How long calls took, and how many got no answer. */
export class DurationTally {
  answered = 0;
  /** How many of them got an error. */
  failed = 0;
  private readonly counts = new Uint32Array(CLASSES);
  private readonly slow: { readonly row: number; readonly duration: number }[] = [];
  /** Calls whose reply may still come. */
  private open: number[] = [];
  private min = Number.POSITIVE_INFINITY;
  private max = 0;

  constructor(private readonly recording: Recording) {}

  /** Counts a call. */
  add(row: number): void {
    const reply = this.recording.partner.get(row);
    if (reply !== NONE) this.answer(row, reply);
    else if ((this.recording.flags.get(row) & Flag.NoReplyExpected) === 0) this.open.push(row);
  }

  /** Looks whether calls have replies by now. */
  lookAgain(): void {
    const open = this.open;
    this.open = [];
    for (const row of open) this.add(row);
  }

  /** How many want an answer, and have none. */
  get unanswered(): number {
    return this.open.length;
  }

  /** Rows of those that took longest, the longest first. */
  get slowest(): readonly number[] {
    return this.slow.map(({ row }) => row);
  }

  /** Durations by their size; undefined if there are fewer than two: one has no spread. */
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

/** How many durations there are of each size; sizes grow by the same factor from bar to bar. */
export interface Histogram {
  readonly min: number;
  readonly max: number;
  /** The first class of the first bar, and how many classes a bar has. */
  readonly first: number;
  readonly width: number;
  readonly counts: readonly number[];
}

/** The bar in which a duration is counted. */
export function barOf({ first, width, counts }: Histogram, duration: number): number {
  const bar = Math.floor((classOf(duration) - first) / width);
  return Math.max(0, Math.min(bar, counts.length - 1));
}

/** From which to which duration a bar counts. */
export function barRange({ first, width }: Histogram, bar: number): [number, number] {
  const start = (place: number): number => 2 ** (place / CLASSES_PER_OCTAVE);
  return [start(first + bar * width), start(first + (bar + 1) * width)];
}

/** Durations are counted in classes, of which each begins 4 % above the one before. */
function classOf(duration: number): number {
  const place = Math.floor(Math.log2(Math.max(1, duration)) * CLASSES_PER_OCTAVE);
  return Math.min(place, CLASSES - 1);
}

const CLASSES_PER_OCTAVE = 16;
/** Nanoseconds of more than two years. */
const CLASSES = 56 * CLASSES_PER_OCTAVE;
const BARS_MAX = 24;
const SLOWEST_MAX = 5;
