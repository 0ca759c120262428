// Pairing of corresponding messages in two recordings.
//
// The nth call of a method of a service corresponds to the nth call of the same method of the same
// service on the other side, and the nth signal of a service to the nth signal with the same name.
// A reply corresponds to the reply to the corresponding call. Messages are counted over whole
// recordings, so that filters do not change the pairs.

import { Kind, NONE, type Recording } from "../../model/recording";
import { inSlices } from "../../overview/slices";
import type { Span } from "../../state/store";
import type { Side } from "../sides";
import { Identities, RECORDER } from "./identity";

/** The row of each row's counterpart; {@link NONE} if it has none. */
export type Counterparts = Uint32Array;

/** The pairs of two sides. */
export interface Paired {
  readonly counterparts: Counterparts;
  /** The times of the first and the last message of each side. */
  readonly extents: readonly [Span, Span];
}

/** Pairs the messages of two sides in slices; undefined if aborted. */
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

/** The passes over all messages that create the pairs. */
class Pairing {
  readonly counterparts: Counterparts;
  readonly before: PairingSide;
  readonly after: PairingSide;
  private readonly groups: MessageGroups;
  /** For each message of the first side, the next one of its group. */
  private readonly next: Uint32Array;
  /** For each group, the first message before that is not paired yet, and the last one. */
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

  /** Appends the messages before to the queues of their groups. */
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

  /** Pairs each message after with the first one in the queue of its group. */
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

  /** Pairs the replies of paired calls. */
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

/** The state of one side during the passes. */
class PairingSide {
  /** For each bus, 1 if it belongs to this side. */
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

/** Numbers groups of equal messages: the same member of the same interface of the same service. */
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

  /** The group of a call or signal; {@link NONE} for replies and for messages of the recorder. */
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

/** For each bus, 1 if it belongs to a side. */
export function busesOf({ buses }: Side): Uint8Array {
  const found = new Uint8Array(256);
  for (const bus of buses) found[bus] = 1;
  return found;
}

/** The number of a key. A new key gets the next number. */
function numberIn(numbers: Map<number, number>, key: number): number {
  const known = numbers.get(key);
  if (known !== undefined) return known;
  numbers.set(key, numbers.size);
  return numbers.size - 1;
}

/**
 * An upper limit for the number of strings, members and services. Two such numbers fit into one
 * number.
 */
const PLACES = 2 ** 25;
