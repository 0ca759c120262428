// A recording in columns. Independent of the DOM and of HTTP.

import { FormatError } from "../format/check";
import type { Frame, HeadOf, Numbers } from "../format/frame";
import type { Bus, ColumnName, Peer } from "../generated/protocol";
import { GrowingColumn, TimeColumn } from "./column";

/** Stands for an absent row, peer or string. */
export const NONE = 0xffffffff;

/** The message types of the D-Bus specification; 0 stands for any other type. */
export const Kind = { Unknown: 0, Call: 1, Return: 2, Error: 3, Signal: 4 } as const;
export type Kind = (typeof Kind)[keyof typeof Kind];

/** The header flags of a message. */
export const Flag = { NoReplyExpected: 1, NoAutoStart: 2, AllowInteractive: 4 } as const;

/** The completeness and validity of a message. */
export const Health = {
  Whole: 0,
  BodyRedacted: 1,
  BodyCut: 2,
  HeaderCut: 3,
  BodyInvalid: 4,
  HeaderInvalid: 5,
} as const;

/**
 * All messages, one per row. Strings are stored as indices into {@link strings}, connections as
 * indices into {@link peers}, and messages as rows; {@link NONE} stands for an absent value.
 */
export class Recording {
  /** The number of messages. */
  length = 0;
  /** The number of dropped messages before the first row. Always 0 for a recording. */
  before = 0;
  /** The time of the first message, in nanoseconds since 1970. */
  start = 0n;
  /** The time of the last message, in nanoseconds since the first. */
  end = 0;
  readonly strings: string[] = [];
  readonly peers: Peer[] = [];
  buses: readonly Bus[] = [];
  /** The files that were opened together; empty for a live bus. */
  files: readonly string[] = [];

  /** The time in nanoseconds since the first message. */
  readonly at = new GrowingColumn(Float64Array);
  readonly kind = new GrowingColumn(Uint8Array);
  readonly flags = new GrowingColumn(Uint8Array);
  readonly health = new GrowingColumn(Uint8Array);
  readonly bus = new GrowingColumn(Uint8Array);
  /** The sender, as an index of a peer. */
  readonly from = new GrowingColumn(Uint32Array);
  /** The addressed connection, as an index of a peer. */
  readonly to = new GrowingColumn(Uint32Array);
  /** The name in the header field DESTINATION, as an index of a string. */
  readonly destination = new GrowingColumn(Uint32Array);
  readonly path = new GrowingColumn(Uint32Array);
  readonly interface = new GrowingColumn(Uint32Array);
  /** The method or signal; for an error, the error name. */
  readonly member = new GrowingColumn(Uint32Array);
  /** For a call the row of its reply, for a reply the row of its call. */
  readonly partner = new GrowingColumn(Uint32Array);
  /** The size on the wire in bytes. */
  readonly size = new GrowingColumn(Uint32Array);
  /** Nanoseconds from receipt by the bus to the choice of recipients, if the bus was traced. */
  readonly routed = new TimeColumn();
  /**
   * Nanoseconds from receipt by the bus until it wrote the copy for the addressee, or the last copy
   * of a broadcast, if the bus was traced.
   */
  readonly delivered = new TimeColumn();
  /** The end of the message's recipients in {@link recipients}. */
  readonly recipientsEnd = new GrowingColumn(Uint32Array);
  /** The recipient of each copy, if the bus was traced. */
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
    this.accumulateRecipientEnds(frame);
    this.linkReplies(first);
  }

  /**
   * For a call the row of its reply, for a reply the row of its call; {@link NONE} if there is
   * none, and for signals.
   */
  partnerOf(row: number): number {
    return this.partner.get(row);
  }

  /**
   * The row of the call: the row itself for a call, or the answered call for a reply; {@link NONE}
   * if there is none.
   */
  callOf(row: number): number {
    const kind = this.kind.get(row);
    if (kind === Kind.Call) return row;
    return kind === Kind.Return || kind === Kind.Error ? this.partner.get(row) : NONE;
  }

  /**
   * The row that has the path, interface and member: the answered call for a reply, or the row
   * itself.
   */
  subjectOf(row: number): number {
    const call = this.callOf(row);
    return call === NONE ? row : call;
  }

  /**
   * Nanoseconds from call to reply, for either of the two. In a trace, the period begins when the
   * bus received the call and ends when it wrote the reply. Undefined if the call or reply is
   * missing, or if the clock was set back.
   */
  durationOf(row: number): number | undefined {
    const call = this.callOf(row);
    const reply = call === NONE ? NONE : this.partner.get(call);
    if (reply === NONE) return undefined;
    const duration = this.writtenAt(reply) - this.at.get(call);
    return duration < 0 ? undefined : duration;
  }

  /**
   * The time at which the addressee received the message: in a trace, when the bus had written it.
   */
  writtenAt(row: number): number {
    const delivered = this.delivered.get(row);
    return this.at.get(row) + (delivered === NONE ? 0 : delivered);
  }

  /** The connections that received copies; empty if they are unknown. */
  recipientsOf(row: number): Uint32Array {
    const start = row === 0 ? 0 : this.recipientsEnd.get(row - 1);
    return this.recipients.slice(start, this.recipientsEnd.get(row));
  }

  /** The string at an index. */
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

  /** Converts the counts of copies in the appended rows to end indices. */
  private accumulateRecipientEnds(frame: MessagesFrame): void {
    const ends = this.recipientsEnd.slice(0, this.length);
    let end = this.recipients.length - columnOf(frame, "recipients").length;
    for (let row = this.length - frame.head.count; row < ends.length; row++) {
      end += ends[row] as number;
      ends[row] = end;
    }
  }

  /**
   * Links replies and calls in both directions, and sets the recipient of a call to the sender of
   * its reply if it was unknown.
   */
  private linkReplies(first: number): void {
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

/** A frame that contains messages. */
export type MessagesFrame = Frame<HeadOf<"messages">>;

/** The columns with one number per message. A frame also has `step` or `at`. */
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

/** Rejects columns of different lengths, because a missing row would shift all rows after it. */
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
    throw new FormatError(`the frame has ${recipients} recipients for ${copies} copies`);
  }
}

function columnOf({ columns }: MessagesFrame, name: ColumnName): Numbers {
  return columns.get(name) ?? NO_NUMBERS;
}

/**
 * The times of a frame's messages in nanoseconds since the first message of the recording. The
 * frame has them as absolute times or as differences.
 */
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

/** The well-known name of the bus itself. */
const DRIVER = "org.freedesktop.DBus";

const NO_NUMBERS = new Uint8Array(0);
