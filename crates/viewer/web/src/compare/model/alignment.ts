// Which messages of two recordings stand beside each other.

import { NONE, type Recording } from "../../model/recording";
import { inSlices } from "../../overview/slices";
import type { Lines } from "../../sequence/model/runs";
import type { Alignment } from "../../state/comparison";
import { differenceOf } from "./difference";
import type { Counterparts } from "./pairing";

/** The messages of a side that are shown. */
export interface Shown {
  readonly rows: Uint32Array;
  /** From where its times are counted. */
  readonly origin: number;
  /** Whether a row is one of them. */
  has(row: number): boolean;
}

/** How many messages of a side are different. */
export interface DifferenceTally {
  /** Without a counterpart. */
  alone: number;
  /** Calls that were clearly slower than their counterparts, or failed where those did not. */
  worse: number;
}

/** The lines of two sides, as many on both; a line has a message of one of them at least. */
export interface Aligned {
  readonly lines: readonly [Lines, Lines];
  /** Lines in which a message differs from its counterpart, or has none, ascending. */
  readonly different: readonly number[];
  readonly tallies: readonly [DifferenceTally, DifferenceTally];
}

/**
 * Puts two sides beside each other a slice at a time; undefined if that was given up.
 *
 * Each side keeps its order. Counterparts stand in one line where the order of both allows that; on
 * one clock only if they are nearly simultaneous. Of two that would each have to wait for a
 * counterpart the one goes first that had to wait for longer, and of all others that which was
 * earlier.
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

/** Which side the next line is of. */
type Turn = "before" | "after" | "both";

class Merge {
  private line = 0;
  private readonly first: readonly [Uint32Array, Uint32Array];
  private readonly different: number[] = [];
  private readonly tallies: readonly [DifferenceTally, DifferenceTally] = [
    { alone: 0, worse: 0 },
    { alone: 0, worse: 0 },
  ];
  private readonly reach: number;
  /** Places of the messages that come next. */
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

  /** Makes so many lines more, or as many as there are. */
  advance(lines: number): void {
    const [{ rows: before }, { rows: after }] = this.sides;
    for (let made = 0; made < lines; made++) {
      const [one, other] = [before[this.before], after[this.after]];
      if (one === undefined && other === undefined) return;
      this.first[0][this.line] = this.before;
      this.first[1][this.line++] = this.after;
      this.give(this.turn(one, other), one, other);
    }
  }

  /** What has been made, once it is all there is. */
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

  private give(turn: Turn, one: number | undefined, other: number | undefined): void {
    if (turn !== "after") this.count(0, one);
    if (turn !== "before") this.count(1, other);
    if (turn !== "after") this.before++;
    if (turn !== "before") this.after++;
  }

  private count(side: 0 | 1, row: number | undefined): void {
    if (row === undefined) return;
    const difference = differenceOf(this.recording, this.counterparts, row);
    if (difference.is === "nothing") return;
    const line = this.line - 1;
    if (this.different.at(-1) !== line) this.different.push(line);
    this.tallies[side][difference.is === "alone" ? "alone" : "worse"]++;
  }

  private turn(one: number | undefined, other: number | undefined): Turn {
    if (one === undefined) return "after";
    if (other === undefined) return "before";
    const [oneWaits, otherWaits] = [this.wait(0, one, other), this.wait(1, other, one)];
    if (oneWaits === 0 && otherWaits === 0) return "both";
    if (oneWaits !== undefined && otherWaits !== undefined && oneWaits !== otherWaits) {
      return oneWaits > otherWaits ? "before" : "after";
    }
    if ((oneWaits === undefined) !== (otherWaits === undefined)) {
      return oneWaits === undefined ? "before" : "after";
    }
    return this.time(0, one) <= this.time(1, other) ? "before" : "after";
  }

  /**
   * For how many rows a message has to wait until its counterpart comes; undefined if it does not
   * come.
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

/** Nanoseconds that counterparts may be apart on one clock to stand in one line. */
const SIMULTANEOUS = 20_000_000;
