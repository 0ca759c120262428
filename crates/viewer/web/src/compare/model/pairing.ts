// Which message of one recording corresponds to which of another.
//
// The nth call of a method to a service corresponds to the nth call of the same method to the same
// service on the other side, the nth signal of a name from a service to the nth one there; a reply
// corresponds to the reply to the call that corresponds to its own. It is counted over whole
// recordings, so that no query has a message correspond to another one.

import { Kind, NONE, type Recording } from "../../model/recording";
import { inSlices } from "../../overview/slices";
import type { Span } from "../../state/store";
import type { Side } from "../sides";
import { Identities, RECORDER } from "./identity";

/** Of each row that of its counterpart; {@link NONE} if it has none. */
export type Counterparts = Uint32Array;

/** What was found of two sides. */
export interface Paired {
  readonly counterparts: Counterparts;
  /** From the first to the last message of each side. */
  readonly extents: readonly [Span, Span];
}

/** Finds the counterparts of two sides a slice at a time; undefined if that was given up. */
export async function pairUp(
  recording: Recording,
  sides: readonly [Side, Side],
  abort: AbortSignal,
): Promise<Paired | undefined> {
  const { length } = recording;
  const pairing = new Pairing(recording, sides);
  for (const pass of [pairing.queue, pairing.take, pairing.pairReplies]) {
    if (!(await inSlices(length, pass, abort))) return undefined;
  }
  const extents = [pairing.before, pairing.after].map(({ from, until }) =>
    from <= until ? { from, until } : { from: 0, until: 0 },
  );
  return { counterparts: pairing.counterparts, extents: extents as [Span, Span] };
}

/** The passes over all messages that it takes. */
class Pairing {
  readonly counterparts: Counterparts;
  readonly before: PairingSide;
  readonly after: PairingSide;
  private readonly groups: MessageGroups;
  /** Of each message before the next one of its group. */
  private readonly next: Uint32Array;
  /** Of each group the first message before that is not taken, and the last one. */
  private readonly first: number[] = [];
  private readonly last: number[] = [];

  constructor(
    private readonly recording: Recording,
    sides: readonly [Side, Side],
  ) {
    this.counterparts = new Uint32Array(recording.length).fill(NONE);
    this.next = new Uint32Array(recording.length).fill(NONE);
    [this.before, this.after] = [new PairingSide(sides[0]), new PairingSide(sides[1])];
    this.groups = new MessageGroups(recording, new Identities(recording, sides));
  }

  /** Has the messages before wait in the queues of their groups. */
  readonly queue = (from: number, to: number): void => {
    for (let row = from; row < to; row++) {
      const group = this.groupIn(this.before, row);
      if (group === NONE) continue;
      const last = this.last[group];
      if (last === undefined) this.first[group] = row;
      else this.next[last] = row;
      this.last[group] = row;
    }
  };

  /** Has each message after take the first one that waits. */
  readonly take = (from: number, to: number): void => {
    for (let row = from; row < to; row++) {
      const group = this.groupIn(this.after, row);
      const other = group === NONE ? NONE : (this.first[group] ?? NONE);
      if (other === NONE) continue;
      this.first[group] = this.next[other] as number;
      this.counterparts[row] = other;
      this.counterparts[other] = row;
    }
  };

  /** Replies correspond where their calls do. */
  readonly pairReplies = (from: number, to: number): void => {
    const { recording, counterparts } = this;
    for (let row = from; row < to; row++) {
      if (!isReply(recording, row)) continue;
      const call = recording.partnerOf(row);
      const other = call === NONE ? NONE : (counterparts[call] as number);
      if (other !== NONE) counterparts[row] = recording.partnerOf(other);
    }
  };

  private groupIn(half: PairingSide, row: number): number {
    if (half.isOf[this.recording.bus.get(row)] !== 1) return NONE;
    half.add(this.recording.at.get(row));
    return this.groups.of(row);
  }
}

/** One side, while it is gone through. */
class PairingSide {
  /** Of each bus whether it is one of this side. */
  readonly isOf: Uint8Array;
  from = Number.POSITIVE_INFINITY;
  until = Number.NEGATIVE_INFINITY;

  constructor(side: Side) {
    this.isOf = busesOf(side);
  }

  add(time: number): void {
    if (time < this.from) this.from = time;
    if (time > this.until) this.until = time;
  }
}

/**
 * Messages of one kind have one number: the same member of the same interface of the same service.
 */
class MessageGroups {
  private readonly members = new Map<number, number>();
  private readonly groups = new Map<number, number>();
  private readonly services: Uint32Array;

  constructor(
    private readonly recording: Recording,
    private readonly identities: Identities,
  ) {
    this.services = identities.ofPeers();
  }

  /**
   * The number of a call or a signal; {@link NONE} of what is neither, and of what the recorder
   * asks.
   */
  of(row: number): number {
    const { recording } = this;
    const kind = recording.kind.get(row);
    if (kind !== Kind.Call && kind !== Kind.Signal) return NONE;
    if (this.services[recording.from.get(row)] === RECORDER) return NONE;
    const service = kind === Kind.Call ? this.callee(row) : this.emitter(row);
    if (service === RECORDER) return NONE;
    const member = recording.interface.get(row) * PLACES + recording.member.get(row);
    const place = numberIn(this.members, member);
    return numberIn(this.groups, (place * PLACES + service) * 2 + Number(kind === Kind.Call));
  }

  private callee(row: number): number {
    const { recording } = this;
    const to = recording.to.get(row);
    if (to !== NONE) return this.services[to] ?? RECORDER;
    const name = recording.text(recording.destination.get(row));
    return this.identities.number(recording.bus.get(row), name);
  }

  private emitter(row: number): number {
    const { recording } = this;
    const from = recording.from.get(row);
    if (from !== NONE) return this.services[from] ?? RECORDER;
    return this.identities.number(recording.bus.get(row), "");
  }
}

function isReply(recording: Recording, row: number): boolean {
  const kind = recording.kind.get(row);
  return kind === Kind.Return || kind === Kind.Error;
}

/** Of each bus whether it is one of a side. */
export function busesOf({ buses }: Side): Uint8Array {
  const found = new Uint8Array(256);
  for (const bus of buses) found[bus] = 1;
  return found;
}

/** The number of a key, the next one if it is new. */
function numberIn(numbers: Map<number, number>, key: number): number {
  const known = numbers.get(key);
  if (known !== undefined) return known;
  numbers.set(key, numbers.size);
  return numbers.size - 1;
}

/**
 * More texts, members and services than this there are not in a recording: two of them fit into a
 * number.
 */
const PLACES = 2 ** 25;
