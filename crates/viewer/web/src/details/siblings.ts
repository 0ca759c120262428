// Other messages of the same kind: all calls of one method, all signals of one name. No DOM.

import { Kind, type Recording } from "../model/recording";
import { lowerBound } from "../state/visible";
import { DurationTally } from "./tally";

/** The calls of one method, or the signals of one name, on one bus. */
export class Siblings {
  /** Their rows. */
  readonly rows: number[] = [];
  /** What became of them, if they are calls. */
  readonly tally: DurationTally;
  private readonly isLike: (row: number) => boolean;
  private readonly isCall: boolean;
  private seen = 0;

  /** Those that are like this call or signal. */
  constructor(
    readonly recording: Recording,
    subject: number,
  ) {
    this.isLike = likeness(recording, subject);
    this.isCall = recording.kind.get(subject) === Kind.Call;
    this.tally = new DurationTally(recording);
  }

  /** Whether a call or signal is one of them. */
  has(row: number): boolean {
    return this.isLike(row);
  }

  /** Whether there are messages that were not looked at yet. */
  get isBehind(): boolean {
    return this.seen < this.recording.length;
  }

  /** Looks at no more than so many of the messages that have come since. */
  advance(messages: number): void {
    if (this.seen > 0 && this.isBehind) this.tally.lookAgain();
    const end = Math.min(this.recording.length, this.seen + messages);
    for (let row = this.seen; row < end; row++) {
      if (!this.isLike(row)) continue;
      this.rows.push(row);
      if (this.isCall) this.tally.add(row);
    }
    this.seen = end;
  }

  /** The place of one of them among all. */
  placeOf(row: number): number {
    return lowerBound(this.rows, row);
  }
}

/** Those that are like this call or signal; what was found for the last one is used again. */
export function siblingsOf(recording: Recording, subject: number): Siblings {
  const last = known.get(recording);
  if (last?.has(subject)) return last;
  const siblings = new Siblings(recording, subject);
  known.set(recording, siblings);
  return siblings;
}

/** The next message like this call or signal, in steps of 1 or -1; undefined if there is none. */
export function neighbour(recording: Recording, subject: number, step: 1 | -1): number | undefined {
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
