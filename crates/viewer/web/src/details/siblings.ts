// Other messages of the same kind: all calls of one method, all signals of one name. No DOM.

import { Flag, Kind, NONE, type Recording } from "../model/recording";
import { lowerBound } from "../state/visible";

/** The calls of one method, or the signals of one name, on one bus. */
export class Siblings {
  /** Their rows. */
  readonly rows: number[] = [];
  private readonly kind: number;
  private readonly bus: number;
  private readonly member: number;
  private readonly interface: number;
  private seen = 0;

  /** Those that are like this call or signal. */
  constructor(
    readonly recording: Recording,
    readonly subject: number,
  ) {
    this.kind = recording.kind.get(subject);
    this.bus = recording.bus.get(subject);
    this.member = recording.member.get(subject);
    this.interface = recording.interface.get(subject);
  }

  /** Whether a call or signal is one of them. */
  has(recording: Recording, row: number): boolean {
    return recording === this.recording && this.isOne(row);
  }

  /** Looks through the messages that have come since. */
  update(): void {
    const { length } = this.recording;
    for (let row = this.seen; row < length; row++) if (this.isOne(row)) this.rows.push(row);
    this.seen = length;
  }

  /** The place of one of them among all. */
  placeOf(row: number): number {
    return lowerBound(this.rows, row);
  }

  private isOne(row: number): boolean {
    const { recording } = this;
    return (
      recording.member.get(row) === this.member &&
      recording.interface.get(row) === this.interface &&
      recording.kind.get(row) === this.kind &&
      recording.bus.get(row) === this.bus
    );
  }
}

/** The next message like this call or signal, in steps of 1 or -1; undefined if there is none. */
export function neighbour(recording: Recording, subject: number, step: 1 | -1): number | undefined {
  const siblings = new Siblings(recording, subject);
  for (let row = subject + step; row >= 0 && row < recording.length; row += step) {
    if (siblings.has(recording, row)) return row;
  }
  return undefined;
}

/** How long calls took. */
export interface Durations {
  readonly answered: number;
  /** How many of them got an error. */
  readonly failed: number;
  /** How many wanted an answer, and have none. */
  readonly unanswered: number;
  /** Rows of those that took longest, the longest first. */
  readonly slowest: readonly number[];
  readonly histogram: Histogram | undefined;
}

/** How many durations there are of each size; sizes grow by the same factor from bar to bar. */
export interface Histogram {
  readonly min: number;
  readonly max: number;
  readonly counts: readonly number[];
}

/** What there is to know of the durations of these calls. */
export function durationsOf(recording: Recording, rows: readonly number[]): Durations {
  const durations = new Float64Array(rows.length);
  let answered = 0;
  let failed = 0;
  let unanswered = 0;
  const slowest = new Slowest(SLOWEST_MAX);
  for (const row of rows) {
    const reply = recording.partner.get(row);
    if (reply === NONE) {
      unanswered += wantsReply(recording, row) ? 1 : 0;
      continue;
    }
    if (recording.kind.get(reply) === Kind.Error) failed++;
    const duration = recording.at.get(reply) - recording.at.get(row);
    durations[answered++] = duration;
    slowest.add(row, duration);
  }
  const histogram = histogramOf(durations.subarray(0, answered), BARS);
  return { answered, failed, unanswered, slowest: slowest.rows, histogram };
}

/** Durations, counted by their size; undefined if there are none. */
export function histogramOf(durations: Float64Array, bars: number): Histogram | undefined {
  if (durations.length === 0) return undefined;
  let min = Number.POSITIVE_INFINITY;
  let max = 0;
  for (const duration of durations) {
    min = Math.min(min, duration);
    max = Math.max(max, duration);
  }
  const counts = new Array<number>(bars).fill(0);
  const empty = { min, max, counts };
  for (const duration of durations) {
    const bar = barOf(empty, duration);
    counts[bar] = (counts[bar] ?? 0) + 1;
  }
  return empty;
}

/** The bar in which a duration is counted. */
export function barOf({ min, max, counts }: Histogram, duration: number): number {
  const [low, high, here] = [min, max, duration].map(logarithm) as [number, number, number];
  if (high === low) return 0;
  const bar = Math.floor(((here - low) / (high - low)) * counts.length);
  return Math.max(0, Math.min(bar, counts.length - 1));
}

/** From which to which duration a bar counts. */
export function barRange({ min, max, counts }: Histogram, bar: number): [number, number] {
  const [low, high] = [logarithm(min), logarithm(max)];
  const at = (place: number): number => Math.exp(low + ((high - low) * place) / counts.length);
  return [at(bar), at(bar + 1)];
}

/** The rows with the largest numbers. */
class Slowest {
  private readonly found: { readonly row: number; readonly duration: number }[] = [];

  constructor(private readonly max: number) {}

  add(row: number, duration: number): void {
    const last = this.found.at(-1);
    if (this.found.length === this.max && last !== undefined && duration <= last.duration) return;
    const behind = this.found.findIndex((other) => other.duration < duration);
    this.found.splice(behind === -1 ? this.found.length : behind, 0, { row, duration });
    this.found.length = Math.min(this.found.length, this.max);
  }

  get rows(): readonly number[] {
    return this.found.map(({ row }) => row);
  }
}

function wantsReply(recording: Recording, row: number): boolean {
  return (recording.flags.get(row) & Flag.NoReplyExpected) === 0;
}

/** Two messages at the same nanosecond are possible. */
function logarithm(duration: number): number {
  return Math.log(Math.max(1, duration));
}

const SLOWEST_MAX = 5;
const BARS = 24;
