// A recording in columns, as the page holds it: no DOM, no requests.

import { FormatError } from "../format/check";
import type { Frame, HeadOf, Numbers } from "../format/frame";
import type { Bus, ColumnName, Peer } from "../generated/protocol";
import { GrowingColumn, TimeColumn } from "./column";

/** Where there is nobody, or nothing. */
export const NONE = 0xffffffff;

/** Types of messages, as on the wire; 0 is what the specification does not know. */
export const Kind = { Unknown: 0, Call: 1, Return: 2, Error: 3, Signal: 4 } as const;
export type Kind = (typeof Kind)[keyof typeof Kind];

/** The flags of a message. */
export const Flag = { NoReplyExpected: 1, NoAutoStart: 2, AllowInteractive: 4 } as const;

/** How much of a message there is, and whether it is right. */
export const Health = {
  Whole: 0,
  BodyRedacted: 1,
  BodyCut: 2,
  HeaderCut: 3,
  BodyInvalid: 4,
  HeaderInvalid: 5,
} as const;

/**
 * All messages, each a row. Texts are places in {@link strings}, connections places in
 * {@link peers}, messages rows; {@link NONE} is none of them.
 */
export class Recording {
  /** How many messages there are. */
  length = 0;
  /** How many there were before the first one that is still there; only of a bus. */
  before = 0;
  /** The time of the first message, in nanoseconds since 1970. */
  start = 0n;
  /** The time of the last message, in nanoseconds since the first. */
  end = 0;
  readonly strings: string[] = [];
  readonly peers: Peer[] = [];
  buses: readonly Bus[] = [];
  /** The files that were opened together; none of a bus that is listened to. */
  files: readonly string[] = [];

  /** Nanoseconds since the first message. */
  readonly at = new GrowingColumn(Float64Array);
  readonly kind = new GrowingColumn(Uint8Array);
  readonly flags = new GrowingColumn(Uint8Array);
  readonly health = new GrowingColumn(Uint8Array);
  readonly bus = new GrowingColumn(Uint8Array);
  /** The connection that sends. */
  readonly from = new GrowingColumn(Uint32Array);
  /** The connection that it is addressed to. */
  readonly to = new GrowingColumn(Uint32Array);
  /** The name that it is addressed to. */
  readonly destination = new GrowingColumn(Uint32Array);
  readonly path = new GrowingColumn(Uint32Array);
  readonly interface = new GrowingColumn(Uint32Array);
  /** The method or signal; of an error its name. */
  readonly member = new GrowingColumn(Uint32Array);
  /** Of a call its reply, of a reply its call. */
  readonly partner = new GrowingColumn(Uint32Array);
  /** Bytes. */
  readonly size = new GrowingColumn(Uint32Array);
  /** Nanoseconds from when the bus received it until it had decided who gets it; if it was traced. */
  readonly routed = new TimeColumn();
  /**
   * Nanoseconds from when the bus received it until it had written the copy of the addressee, or of a
   * broadcast the last copy; if it was traced.
   */
  readonly delivered = new TimeColumn();
  /** Where its recipients end in {@link recipients}. */
  readonly recipientsEnd = new GrowingColumn(Uint32Array);
  /** The connections that got each copy, if it was traced. */
  readonly recipients = new GrowingColumn(Uint32Array);

  /** Appends the messages of a frame. */
  apply(frame: MessagesFrame): void {
    const { head } = frame;
    checkColumns(frame);
    if (this.length === 0) this.start = BigInt(head.start_ns);
    for (const text of head.strings) this.strings.push(text);
    for (const peer of head.peers) this.peers[peer.id] = peer;
    this.buses = head.buses;
    this.files = head.files;
    const first = this.length;
    this.append(frame, Math.max(head.total, first + head.count));
    this.length += head.count;
    this.endRecipients(frame);
    this.pair(first);
  }

  /** Of a call the reply, of a reply the call; {@link NONE} if there is none, and for signals. */
  partnerOf(row: number): number {
    return this.partner.get(row);
  }

  /** The call: itself, or that which it answers; {@link NONE} if there is none. */
  callOf(row: number): number {
    const kind = this.kind.get(row);
    if (kind === Kind.Call) return row;
    return kind === Kind.Return || kind === Kind.Error ? this.partner.get(row) : NONE;
  }

  /** The message that has the path, interface and member: of a reply its call. */
  subjectOf(row: number): number {
    const call = this.callOf(row);
    return call === NONE ? row : call;
  }

  /**
   * Nanoseconds from call to reply, for either of them: from when the bus received the call until it had
   * written the reply, if it was traced. Undefined if there is no pair, or if the clock was set back.
   */
  durationOf(row: number): number | undefined {
    const call = this.callOf(row);
    const reply = call === NONE ? NONE : this.partner.get(call);
    if (reply === NONE) return undefined;
    const duration = this.writtenAt(reply) - this.at.get(call);
    return duration < 0 ? undefined : duration;
  }

  /** When the addressee had it: when the bus had written it, if it was traced. */
  writtenAt(row: number): number {
    const delivered = this.delivered.get(row);
    return this.at.get(row) + (delivered === NONE ? 0 : delivered);
  }

  /** The connections that got copies; empty if that is not known. */
  recipientsOf(row: number): Uint32Array {
    const start = row === 0 ? 0 : this.recipientsEnd.get(row - 1);
    return this.recipients.slice(start, this.recipientsEnd.get(row));
  }

  /** A text by its place. */
  text(place: number): string {
    return this.strings[place] ?? "";
  }

  private append(frame: MessagesFrame, total: number): void {
    const take = <N extends Numbers>(column: GrowingColumn<N>, name: ColumnName): void => {
      column.reserve(total);
      column.append(columnOf(frame, name));
    };
    this.at.reserve(total);
    this.at.append(timesOf(frame));
    take(this.kind, "kind");
    take(this.flags, "flags");
    take(this.health, "health");
    take(this.bus, "bus");
    take(this.from, "from");
    take(this.to, "to");
    take(this.destination, "destination");
    take(this.path, "path");
    take(this.interface, "interface");
    take(this.member, "member");
    take(this.partner, "answers");
    take(this.size, "size");
    take(this.routed, "routed");
    take(this.delivered, "delivered");
    for (const [column, row, time] of frame.head.long ?? [])
      (column === "routed" ? this.routed : this.delivered).setLong(this.length + row, time);
    take(this.recipientsEnd, "copies");
    this.recipients.append(columnOf(frame, "recipients"));
  }

  /** Has the numbers of copies, which have come, be where they end. */
  private endRecipients(frame: MessagesFrame): void {
    const ends = this.recipientsEnd.slice(0, this.length);
    let end = this.recipients.length - columnOf(frame, "recipients").length;
    for (let row = this.length - frame.head.count; row < ends.length; row++) {
      end += ends[row] as number;
      ends[row] = end;
    }
  }

  /** Replies learn of their calls, and these of them, and perhaps to whom they went. */
  private pair(first: number): void {
    const partner = this.partner.slice(0, this.length);
    const at = this.at.slice(0, this.length);
    for (let row = first; row < at.length; row++) {
      const time = at[row] as number;
      if (time > this.end) this.end = time;
      const before = partner[row] as number;
      if (before === NONE) continue;
      const call = row - before;
      partner[row] = call;
      partner[call] = row;
      const callee = this.from.get(row);
      const isBus = this.peers[callee]?.unique === DRIVER;
      if (this.to.get(call) === NONE && !isBus) this.to.set(call, callee);
    }
  }
}

/** A frame with messages. */
export type MessagesFrame = Frame<HeadOf<"messages">>;

/** Columns that have a number for each message; there is `step` or `at` too. */
export const ROW_COLUMNS: readonly ColumnName[] = [
  "kind",
  "flags",
  "health",
  "bus",
  "from",
  "to",
  "destination",
  "path",
  "interface",
  "member",
  "answers",
  "size",
  "routed",
  "delivered",
  "copies",
];

/** The columns must fit together, since one with a missing row would shift all rows behind it. */
function checkColumns({ head, columns }: MessagesFrame): void {
  const times = columns.has("at") ? "at" : "step";
  for (const name of [times, ...ROW_COLUMNS] satisfies ColumnName[]) {
    const length = columns.get(name)?.length ?? 0;
    if (length !== head.count) {
      throw new FormatError(`the column ${name} has ${length} rows instead of ${head.count}`);
    }
  }
  let copies = 0;
  for (const number of columns.get("copies") ?? []) copies += number >>> 0;
  const recipients = columns.get("recipients")?.length ?? 0;
  if (recipients !== copies) {
    throw new FormatError(`there are ${recipients} recipients of ${copies} copies`);
  }
}

function columnOf({ columns }: MessagesFrame, name: ColumnName): Numbers {
  return columns.get(name) ?? NO_NUMBERS;
}

/** Times of messages in nanoseconds since the first one, which come as they are or as steps. */
function timesOf(frame: MessagesFrame): Numbers {
  const times = frame.columns.get("at");
  if (times !== undefined) return times;
  const steps = columnOf(frame, "step");
  const summed = new Float64Array(steps.length);
  let at = frame.head.at ?? 0;
  for (let row = 0; row < steps.length; row++) {
    at += (steps[row] ?? 0) >>> 0;
    summed[row] = at;
  }
  return summed;
}

/** The name of the bus itself. */
const DRIVER = "org.freedesktop.DBus";

const NO_NUMBERS = new Uint8Array(0);
