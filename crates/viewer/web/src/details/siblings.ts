// Messages of the same kind: all calls of a method, or all signals with a name. Independent of the
// DOM.

import { Kind, type Recording } from "../model/recording";
import { lowerBound } from "../state/visible";
import { DurationTally } from "./tally";

/** The calls of one method, or the signals with one name, on one bus. */
export class Siblings {
  /** The rows of these messages. */
  readonly rows: number[] = [];
  /** Statistics of the calls, if these are calls. */
  readonly tally: DurationTally;
  private readonly isLike: (row: number) => boolean;
  private readonly isCall: boolean;
  private examined = 0;

  /** Collects messages of the same kind as this call or signal. */
  constructor(
    readonly recording: Recording,
    subject: number,
  ) {
    this.isLike = likeness(recording, subject);
    this.isCall = recording.kind.get(subject) === Kind.Call;
    this.tally = new DurationTally(recording);
  }

  /** True if a call or signal is of this kind. */
  has(row: number): boolean {
    return this.isLike(row);
  }

  /** True if there are messages that were not examined yet. */
  get isBehind(): boolean {
    return this.examined < this.recording.length;
  }

  /** Examines at most this number of new messages. */
  advance(messages: number): void {
    if (this.examined > 0 && this.isBehind) this.tally.checkOpen();
    const end = Math.min(this.recording.length, this.examined + messages);
    for (let row = this.examined; row < end; row++) {
      if (!this.isLike(row)) continue;
      this.rows.push(row);
      if (this.isCall) this.tally.add(row);
    }
    this.examined = end;
  }

  /** The index of one of these messages among all of them. */
  placeOf(row: number): number {
    return lowerBound(this.rows, row);
  }
}

/** The messages of the same kind as this call or signal. The last result is cached. */
export function siblingsOf(recording: Recording, subject: number): Siblings {
  const last = known.get(recording);
  if (last?.has(subject)) return last;
  const siblings = new Siblings(recording, subject);
  known.set(recording, siblings);
  return siblings;
}

/** The nearest message of the same kind in steps of 1 or -1; undefined if there is none. */
export function neighbor(recording: Recording, subject: number, step: 1 | -1): number | undefined {
  const isLike = likeness(recording, subject);
  for (let row = subject + step; row >= 0 && row < recording.length; row += step) {
    if (isLike(row)) return row;
  }
  return undefined;
}

function likeness(recording: Recording, subject: number): (row: number) => boolean {
  const { member, interface: interfaces, kind, bus } = recording;
  const [wanted, of, type, on] = [member, interfaces, kind, bus].map((column) =>
    column.get(subject),
  );
  return (row) =>
    member.get(row) === wanted &&
    interfaces.get(row) === of &&
    kind.get(row) === type &&
    bus.get(row) === on;
}

const known = new WeakMap<Recording, Siblings>();
