// Lines of the diagram: one message each, or a group of repetitions that is folded into one line.

import { Kind, NONE, type Recording } from "../../model/recording";
import { upperBound } from "../../state/visible";

/** The groups of repetitions that are folded. */
export interface Folding {
  readonly folds: "runs" | "nothing";
  /** Numbers of the first messages of unfolded groups. */
  readonly unfolded: ReadonlySet<number>;
}

/** The lines of the diagram. Positions count the displayed messages. */
export interface Lines {
  readonly count: number;
  /**
   * The position of the first message of each line, followed by the number of all messages. A line
   * without a message has the position of the next line.
   */
  readonly first: Uint32Array;
  /** The size of the group of repetitions that begins at a line, folded or not; 0 if none does. */
  readonly run: Uint32Array;
}

/** Minimum size of a group: a few calls with their replies are more informative than a number. */
export const RUN_MIN = 5;

const NO_LINES: Lines = { count: 0, first: new Uint32Array(1), run: new Uint32Array(0) };

/**
 * The lines of messages. `before` is the result for the first `kept` of these messages with the
 * same folding, and is extended.
 */
export function linesOf(
  recording: Recording,
  rows: Uint32Array,
  folding: Folding,
  before: Lines = NO_LINES,
  kept = 0,
): Lines {
  if (folding.folds === "nothing") return singles(rows.length);
  const isLike = likeness(recording);
  const start = resumeAt(before, rows, kept, isLike);
  const from = before.first[start] ?? 0;
  const first = new Uint32Array(start + rows.length - from + 1);
  const run = new Uint32Array(start + rows.length - from);
  first.set(before.first.subarray(0, start));
  run.set(before.run.subarray(0, start));
  let line = start;
  for (let place = from; place < rows.length; ) {
    let end = place + 1;
    while (end < rows.length && isLike(rows[place] as number, rows[end] as number)) end++;
    const length = end - place;
    const isRun = length >= RUN_MIN;
    const isFolded = isRun && !folding.unfolded.has(recording.before + (rows[place] as number));
    run[line] = isRun ? length : 0;
    if (isFolded) first[line++] = place;
    else while (place < end) first[line++] = place++;
    place = end;
  }
  first[line] = rows.length;
  return { count: line, first: first.slice(0, line + 1), run: run.slice(0, line) };
}

/** The line of the message at a position. */
export function lineOf(lines: Lines, place: number): number {
  return Math.min(upperBound(lines.first, place), lines.count) - 1;
}

/** The number of messages of a line; 0 for a gap beside a message of another diagram. */
export function spanOf(lines: Lines, line: number): number {
  return (lines.first[line + 1] ?? 0) - (lines.first[line] ?? 0);
}

function singles(length: number): Lines {
  const first = new Uint32Array(length + 1);
  for (let place = 0; place <= length; place++) first[place] = place;
  return { count: length, first, run: new Uint32Array(length) };
}

/** The line from which lines are computed again: the last group may have become longer. */
function resumeAt(before: Lines, rows: Uint32Array, kept: number, isLike: Likeness): number {
  if (kept === 0 || before.count === 0) return 0;
  let place = kept - 1;
  while (place > 0 && isLike(rows[place - 1] as number, rows[place] as number)) place--;
  return lineOf(before, place);
}

type Likeness = (row: number, other: number) => boolean;

/**
 * Returns a function that compares two messages. They are alike if they have the same member,
 * sender and recipient. An error is not like any message, so that a group never hides it.
 */
function likeness(recording: Recording): Likeness {
  const { length } = recording;
  const kind = recording.kind.slice(0, length);
  const partner = recording.partner.slice(0, length);
  const columns = [recording.member, recording.interface, recording.from, recording.to].map(
    (column) => column.slice(0, length),
  );
  const [member, face, from, to] = columns as [Uint32Array, Uint32Array, Uint32Array, Uint32Array];
  const subject = (row: number): number => {
    const call = kind[row] === Kind.Return ? (partner[row] as number) : NONE;
    return call === NONE ? row : call;
  };
  return (row, other) => {
    if (kind[row] === Kind.Error || kind[other] === Kind.Error) return false;
    const one = subject(row);
    const two = subject(other);
    return (
      member[one] === member[two] &&
      from[one] === from[two] &&
      to[one] === to[two] &&
      face[one] === face[two] &&
      kind[one] === kind[two]
    );
  };
}
