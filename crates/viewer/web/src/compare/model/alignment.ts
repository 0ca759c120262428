// Alignment of the messages of two recordings in lines.

import { NONE, type Recording } from "../../model/recording";
import { inSlices } from "../../overview/slices";
import type { Lines } from "../../sequence/model/runs";
import type { Alignment } from "../../state/comparison";
import { differenceOf } from "./difference";
import type { Counterparts } from "./pairing";

/** The visible messages of a side. */
export interface Shown {
  readonly rows: Uint32Array;
  /** The time that counts as zero on this side. */
  readonly origin: number;
  /** True if a row is visible. */
  has(row: number): boolean;
}

/** The number of differences on a side. */
export interface DifferenceTally {
  /** Messages without a counterpart. */
  alone: number;
  /**
   * Calls that were significantly slower than their counterparts, or failed while the counterparts
   * did not.
   */
  worse: number;
}

/**
 * The lines of both sides, which have the same number. Each line contains a message of at least one
 * side.
 */
export interface Aligned {
  readonly lines: readonly [Lines, Lines];
  /** The lines that contain a difference, in ascending order. */
  readonly different: readonly number[];
  readonly tallies: readonly [DifferenceTally, DifferenceTally];
}

/**
 * Aligns two sides in slices; undefined if aborted.
 *
 * Each side keeps its order. Counterparts share a line if the order of both sides allows it and,
 * with a common clock, if they are nearly simultaneous. If the next messages of both sides would
 * each have to wait for their counterparts, the one with the longer wait goes first. In all other
 * cases, the earlier message goes first.
 */
export async function align(
  recording: Recording,
  sides: readonly [Shown, Shown],
  counterparts: Counterparts,
  alignment: Alignment,
  abort: AbortSignal,
): Promise<Aligned | undefined> {
  const merge = new Merge(recording, sides, counterparts, alignment);
  const length = sides[0].rows.length + sides[1].rows.length;
  const isWhole = await inSlices(length, (from, to) => merge.advance(to - from), abort);
  return isWhole ? merge.aligned() : undefined;
}

/** The sides that have a message in the next line. */
type NextSide = "before" | "after" | "both";

class Merge {
  private line = 0;
  private readonly first: readonly [Uint32Array, Uint32Array];
  private readonly different: number[] = [];
  private readonly tallies: readonly [DifferenceTally, DifferenceTally] = [
    { alone: 0, worse: 0 },
    { alone: 0, worse: 0 },
  ];
  private readonly reach: number;
  /** The indices of the next messages. */
  private before = 0;
  private after = 0;

  constructor(
    private readonly recording: Recording,
    private readonly sides: readonly [Shown, Shown],
    private readonly counterparts: Counterparts,
    alignment: Alignment,
  ) {
    const length = sides[0].rows.length + sides[1].rows.length + 1;
    this.first = [new Uint32Array(length), new Uint32Array(length)];
    this.reach = alignment === "clock" ? SIMULTANEOUS : Number.POSITIVE_INFINITY;
  }

  /** Adds at most this number of lines. */
  advance(lines: number): void {
    const [{ rows: before }, { rows: after }] = this.sides;
    for (let made = 0; made < lines; made++) {
      const [one, other] = [before[this.before], after[this.after]];
      if (one === undefined && other === undefined) return;
      this.first[0][this.line] = this.before;
      this.first[1][this.line++] = this.after;
      this.add(this.nextSide(one, other), one, other);
    }
  }

  /** The finished alignment, after all lines were added. */
  aligned(): Aligned {
    const [before, after] = this.sides;
    const lines = (first: Uint32Array, end: number): Lines => {
      first[this.line] = end;
      const run = new Uint32Array(this.line);
      return { count: this.line, first: first.subarray(0, this.line + 1), run };
    };
    return {
      lines: [lines(this.first[0], before.rows.length), lines(this.first[1], after.rows.length)],
      different: this.different,
      tallies: this.tallies,
    };
  }

  private add(side: NextSide, one: number | undefined, other: number | undefined): void {
    if (side !== "after") this.count(0, one);
    if (side !== "before") this.count(1, other);
    if (side !== "after") this.before++;
    if (side !== "before") this.after++;
  }

  private count(side: 0 | 1, row: number | undefined): void {
    if (row === undefined) return;
    const difference = differenceOf(this.recording, this.counterparts, row);
    if (difference.is === "nothing") return;
    const line = this.line - 1;
    if (this.different.at(-1) !== line) this.different.push(line);
    this.tallies[side][difference.is === "alone" ? "alone" : "worse"]++;
  }

  private nextSide(one: number | undefined, other: number | undefined): NextSide {
    if (one === undefined) return "after";
    if (other === undefined) return "before";
    const [oneWait, otherWait] = [this.wait(0, one, other), this.wait(1, other, one)];
    if (oneWait === 0 && otherWait === 0) return "both";
    if (oneWait !== undefined && otherWait !== undefined && oneWait !== otherWait) {
      return oneWait > otherWait ? "before" : "after";
    }
    if ((oneWait === undefined) !== (otherWait === undefined)) {
      return oneWait === undefined ? "before" : "after";
    }
    return this.time(0, one) <= this.time(1, other) ? "before" : "after";
  }

  /**
   * The number of rows on the other side before the counterpart of a message; undefined if the
   * counterpart does not follow.
   */
  private wait(side: 0 | 1, row: number, next: number): number | undefined {
    const counterpart = this.counterparts[row] as number;
    const there = side === 0 ? 1 : 0;
    if (counterpart === NONE || counterpart < next) return undefined;
    if (!this.sides[there].has(counterpart)) return undefined;
    const apart = Math.abs(this.time(side, row) - this.time(there, counterpart));
    return apart <= this.reach ? counterpart - next : undefined;
  }

  private time(side: 0 | 1, row: number): number {
    return this.recording.at.get(row) - this.sides[side].origin;
  }
}

/** The maximum time in nanoseconds between counterparts that share a line with a common clock. */
const SIMULTANEOUS = 20_000_000;
