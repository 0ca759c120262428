// Lanes: the horizontal positions of columns. A column has a lane only while its peer is active, so
// the width of a recording with hundreds of connections depends on the number that is active at a
// time.

import { Kind, NONE, type Recording } from "../../model/recording";
import { lowerBound, upperBound } from "../../state/visible";
import { type Clock, slotAt } from "./clock";
import { type Columns, isDriver } from "./columns";
import { type Lines, lineOf, RUN_MIN } from "./runs";

/** A column in a lane, between two lines. */
export interface Stay {
  readonly column: number;
  readonly lane: number;
  readonly from: number;
  /** The last line of the stay. */
  readonly until: number;
}

/** How long a column without messages keeps its lane. */
export type LaneRetention =
  /** More lines than fit on a screen: a column never moves while one of its messages is visible. */
  | "screen"
  /**
   * The same number, while more messages arrive: the lane is not reused before these lines are over
   * or the connection has disconnected. So later messages never move visible columns.
   */
  | "live"
  /** From the first to the last message, for axes on which a screen shows any number of lines. */
  | "whole";

const RETAINED_LINES: Readonly<Record<LaneRetention, number>> = {
  screen: 60,
  live: 60,
  whole: Number.POSITIVE_INFINITY,
};

/** Lines between two columns in one lane, for the end of the first and the name of the second. */
const BETWEEN = 2;

/** If a signal has more recipients, it does not give a lane to its recipients. */
export const COPIES_MAX = 4;

/** The data from which lanes are computed. */
export interface Staged {
  readonly recording: Recording;
  /** The displayed messages. */
  readonly rows: Uint32Array;
  readonly lines: Lines;
  readonly columns: Columns;
  readonly clock: Clock;
}

/** The lanes of columns over time. */
export class Lanes {
  /** The number of lanes that most lines need. */
  readonly usual: number;
  private readonly byColumn: Index;
  private readonly byLane: Index;

  constructor(
    readonly count: number,
    private readonly stays: readonly Stay[],
    columns: number,
    lines: number,
  ) {
    this.byColumn = new Index(columns, stays, (stay) => stay.column);
    this.byLane = new Index(count, stays, (stay) => stay.lane);
    this.usual = this.usualOf(lines);
  }

  /** The lane of a column at a line; {@link NONE} if it has none there. */
  laneAt(column: number, line: number): number {
    const stay = this.stays[this.byColumn.last(column, line)];
    return stay !== undefined && line <= stay.until ? stay.lane : NONE;
  }

  /** The columns that use a lane between two lines, in order. */
  staysIn(lane: number, start: number, end: number): Stay[] {
    const found: Stay[] = [];
    const first = this.byLane.lastPlace(lane, start);
    for (let place = Math.max(first, this.byLane.startOf(lane)); ; place++) {
      const stay = this.stays[this.byLane.at(lane, place)];
      if (stay === undefined || stay.from >= end) return found;
      if (stay.until >= start) found.push(stay);
    }
  }

  /** The first column that uses a lane between two lines; undefined if none does. */
  firstIn(lane: number, start: number, end: number): Stay | undefined {
    return this.staysIn(lane, start, end)[0];
  }

  /** The number of lanes that are needed between two lines. */
  neededIn(start: number, end: number): number {
    for (let lane = this.count - 1; lane >= 0; lane--) {
      if (this.firstIn(lane, start, end) !== undefined) return lane + 1;
    }
    return 0;
  }

  private usualOf(lines: number): number {
    const step = Math.max(1, Math.ceil(lines / SAMPLES));
    const needed: number[] = [];
    for (let line = 0; line < lines; line += step) needed.push(this.neededIn(line, line + VIEW));
    needed.sort((one, other) => one - other);
    return needed[Math.floor(needed.length * USUAL)] ?? this.count;
  }
}

/** Number of sampled lines for the usual number of lanes, and the part of them that must fit. */
const SAMPLES = 60;
const USUAL = 0.8;
/** Number of lines that are visible together. */
const VIEW = 20;

/** A lane for each column from beginning to end. */
export function fixedLanes(columns: number): Lanes {
  const stays = Array.from({ length: columns }, (_, lane) => ({
    column: lane,
    lane,
    from: 0,
    until: Number.POSITIVE_INFINITY,
  }));
  return new Lanes(columns, stays, columns, 1);
}

/** Lanes that are reused when a column is not active any more. */
export function reusedLanes(
  staged: Staged,
  retention: LaneRetention,
  followed = new Followed(retention),
): Lanes {
  const { all } = staged.columns;
  const blocks = new Map<number, Block>();
  for (const column of all) {
    const block = blocks.get(column.bus) ?? new Block();
    blocks.set(column.bus, block);
    if (isDriver(column)) block.reserve();
  }
  const drafts = followed.draftsOf(staged);
  const own = new Uint32Array(drafts.length);
  for (const place of precedenceOf(drafts, retention)) {
    const draft = drafts[place];
    const column = all[draft?.column ?? NONE];
    if (draft === undefined || column === undefined || isDriver(column)) continue;
    own[place] = blocks.get(column.bus)?.take(draft, freeFrom(staged, draft, retention)) ?? 0;
  }
  const starts = startsOf(blocks);
  const stays = drafts.map(({ column, from, until }, place) => {
    const start = starts.get(all[column]?.bus ?? 0) ?? 0;
    return { column, from, until, lane: start + (own[place] as number) };
  });
  const count = [...blocks.values()].reduce((sum, block) => sum + block.count, 0);
  return new Lanes(count, stays, all.length, staged.lines.count);
}

/**
 * The order in which columns get lanes. Columns with the most messages come first and are on the
 * left, beside the bus. If more messages arrive, or there are very many columns, it is the order of
 * their first messages.
 */
function precedenceOf(drafts: readonly StayDraft[], retention: LaneRetention): Uint32Array {
  const order = Uint32Array.from(drafts, (_, place) => place);
  if (retention === "live" || drafts.length > SORTED_MAX) return order;
  const messages = (place: number): number => drafts[place]?.messages ?? 0;
  return order.sort((one, other) => messages(other) - messages(one) || one - other);
}

/**
 * If there are more stays, they get lanes in the order of their beginnings, which takes less time.
 */
const SORTED_MAX = 20_000;

/** The first line at which another column may use the lane. */
function freeFrom(staged: Staged, { column, until }: StayDraft, retention: LaneRetention): number {
  const silent = retention === "live" ? until + RETAINED_LINES.live : until;
  const left = retention === "live" ? leftLine(staged, column) : silent;
  return Math.max(until, Math.min(silent, left)) + 1 + BETWEEN;
}

/**
 * The line at which the last connection of a column disconnected; infinity if one is still
 * connected.
 */
function leftLine({ clock, columns, lines }: Staged, column: number): number {
  const peers = columns.all[column]?.peers ?? [];
  const left = peers.reduce(
    (last, peer) => Math.max(last, peer.left ?? Number.POSITIVE_INFINITY),
    0,
  );
  const place = clock.places[slotAt(clock, left)];
  return place === undefined ? Number.POSITIVE_INFINITY : lineOf(lines, place);
}

/** The first lane of each bus. The lanes of a bus are adjacent. */
function startsOf(blocks: ReadonlyMap<number, Block>): ReadonlyMap<number, number> {
  const starts = new Map<number, number>();
  let start = 0;
  for (const bus of [...blocks.keys()].sort((one, other) => one - other)) {
    starts.set(bus, start);
    start += blocks.get(bus)?.count ?? 0;
  }
  return starts;
}

/** A stay that does not have a lane yet. */
interface StayDraft {
  readonly column: number;
  readonly from: number;
  until: number;
  messages: number;
}

/** The lanes of one bus, while they are being assigned. */
class Block {
  private readonly lanes: Taken[] = [];
  /** The last lane of each column. */
  private readonly home = new Map<number, number>();

  get count(): number {
    return this.lanes.length;
  }

  /** Reserves the first lane for the bus itself. */
  reserve(): void {
    this.lanes.unshift(new Taken());
    this.lanes[0]?.take(0, Number.POSITIVE_INFINITY);
  }

  /** Takes the first free lane, or a lane near to it that the column had before. */
  take({ column, from }: StayDraft, until: number): number {
    let lane = 0;
    while (this.lanes[lane]?.isFree(from, until) === false) lane++;
    const home = this.home.get(column);
    const isNear = home !== undefined && home - lane <= HOME_NEAR;
    if (isNear && this.lanes[home]?.isFree(from, until)) lane = home;
    const taken = this.lanes[lane] ?? new Taken();
    this.lanes[lane] = taken;
    taken.take(from, until);
    this.home.set(column, lane);
    return lane;
  }
}

/** A column returns to its former lane if that is at most this many lanes further to the right. */
const HOME_NEAR = 3;

/** The ranges in which a lane is in use: sorted, without overlaps. */
class Taken {
  private readonly from: number[] = [];
  private readonly until: number[] = [];

  isFree(from: number, until: number): boolean {
    const next = lowerBound(this.from, from);
    const isBefore = (this.until[next - 1] ?? Number.NEGATIVE_INFINITY) <= from;
    return isBefore && (this.from[next] ?? Number.POSITIVE_INFINITY) >= until;
  }

  take(from: number, until: number): void {
    const next = lowerBound(this.from, from);
    this.from.splice(next, 0, from);
    this.until.splice(next, 0, until);
  }
}

/** Computes the stays of columns. If messages are added, only the new ones are visited. */
export class Followed {
  private taking: StayCollector | undefined;
  private keys: readonly string[] = [];
  /** Number of lines that were visited and cannot change any more. */
  private settled = 0;

  constructor(private readonly retention: LaneRetention) {}

  /**
   * The stays, ordered by their starts. `staged` must extend the lines of the previous call.
   */
  draftsOf(staged: Staged): StayDraft[] {
    const keys = staged.columns.all.map(({ key }) => key);
    const isSame = this.keys.every((key, column) => keys[column] === key);
    const last = isSame ? this.taking : undefined;
    const taking = new StayCollector(staged, RETAINED_LINES[this.retention], last);
    const settled = Math.max(0, staged.lines.count - UNSETTLED);
    taking.addLines(last === undefined ? 0 : this.settled, settled);
    this.taking = taking;
    this.keys = keys;
    this.settled = settled;
    const whole = new StayCollector(staged, RETAINED_LINES[this.retention], taking);
    whole.addLines(settled, staged.lines.count);
    return whole.finish();
  }
}

/** The last lines may become one, if more repetitions arrive. */
const UNSETTLED = RUN_MIN;

/** Collects stays line by line. It must be fast, because there may be a million messages. */
class StayCollector {
  private readonly drafts: StayDraft[] = [];
  /** By column: the current stay, its last line or -1, and its messages. */
  private readonly open: (StayDraft | undefined)[];
  private readonly until: Int32Array;
  private readonly messages: Int32Array;
  /**
   * By column: the number of calls whose replies come so late that the column could lose its lane.
   */
  private readonly pending: Int32Array;
  private readonly columns: Uint32Array;
  private readonly kind: Uint8Array;
  private readonly from: Uint32Array;
  private readonly to: Uint32Array;
  private readonly partner: Uint32Array;
  private readonly recipientsEnd: Uint32Array;

  /** Continues another collector, which stays unchanged. */
  constructor(
    private readonly staged: Staged,
    private readonly retainedLines: number,
    before?: StayCollector,
  ) {
    const { columns, recording } = staged;
    const { length } = recording;
    const count = columns.all.length;
    this.until = new Int32Array(count).fill(-1);
    this.messages = new Int32Array(count);
    this.pending = new Int32Array(count);
    this.open = new Array<StayDraft | undefined>(count).fill(undefined);
    if (before !== undefined) this.takeOver(before);
    this.columns = columns.ofPeer;
    this.kind = recording.kind.slice(0, length);
    this.from = recording.from.slice(0, length);
    this.to = recording.to.slice(0, length);
    this.partner = recording.partner.slice(0, length);
    this.recipientsEnd = recording.recipientsEnd.slice(0, length);
  }

  private takeOver(before: StayCollector): void {
    this.until.set(before.until);
    this.messages.set(before.messages);
    this.pending.set(before.pending);
    for (const draft of before.drafts) {
      const own = { ...draft };
      this.drafts.push(own);
      // Later stays of the same column follow.
      this.open[draft.column] = own;
    }
  }

  /** Adds the messages of some lines. */
  addLines(start: number, end: number): void {
    const { first } = this.staged.lines;
    for (let line = start; line < end; line++) {
      this.addLine(first[line] as number, first[line + 1] as number, line);
    }
  }

  /** Adds the messages at some positions, which are in one line. */
  private addLine(start: number, end: number, line: number): void {
    const { from, kind, partner, retainedLines, to } = this;
    const { rows } = this.staged;
    for (let place = start; place < end; place++) {
      const row = rows[place] as number;
      this.touch(from[row] as number, line);
      this.touch(to[row] as number, line);
      if (kind[row] === Kind.Signal) {
        this.addCopies(row, line);
        continue;
      }
      const other = partner[row] as number;
      if (other !== NONE && Math.abs(row - other) > retainedLines) this.keep(row, other);
    }
  }

  private addCopies(row: number, line: number): void {
    const start = row === 0 ? 0 : (this.recipientsEnd[row - 1] as number);
    const end = this.recipientsEnd[row] as number;
    if (end === start || end - start > COPIES_MAX) return;
    const { recording } = this.staged;
    for (let copy = start; copy < end; copy++) {
      const peer = recording.recipients.get(copy);
      if (recording.peers[peer]?.recorder !== true) this.touch(peer, line);
    }
  }

  /** Keeps the lanes of a call until its reply, if both are displayed. */
  private keep(row: number, other: number): void {
    const { rows } = this.staged;
    if (rows[lowerBound(rows, other)] !== other) return;
    const by = this.kind[row] === Kind.Call ? 1 : -1;
    const call = Math.min(row, other);
    for (const peer of [this.from[call] as number, this.to[call] as number]) {
      const column = peer === NONE ? NONE : (this.columns[peer] ?? NONE);
      // A reply whose call was not counted must not end the wait of another call.
      if (column !== NONE) {
        this.pending[column] = Math.max(0, (this.pending[column] as number) + by);
      }
    }
  }

  /** Marks the column of a connection as active at a line. */
  private touch(peer: number, line: number): void {
    if (peer === NONE) return;
    const column = this.columns[peer] ?? NONE;
    if (column === NONE) return;
    const until = this.until[column] as number;
    const isOpen =
      until >= 0 && (line - until <= this.retainedLines || (this.pending[column] as number) > 0);
    this.until[column] = line;
    if (isOpen) this.messages[column] = (this.messages[column] as number) + 1;
    else this.begin(column, line, until);
  }

  private begin(column: number, line: number, until: number): void {
    this.end(column, until);
    const draft = { column, from: line, until: line, messages: 0 };
    this.open[column] = draft;
    this.messages[column] = 1;
    this.drafts.push(draft);
  }

  /** Stores the current stay of a column. */
  private end(column: number, until: number): void {
    const draft = this.open[column];
    if (draft === undefined) return;
    draft.until = until;
    draft.messages = this.messages[column] as number;
  }

  /** Returns all stays. */
  finish(): StayDraft[] {
    this.until.forEach((until, column) => {
      this.end(column, until);
    });
    return this.drafts;
  }
}

/** Stays by a key, in order. */
class Index {
  private readonly starts: Uint32Array;
  private readonly places: Uint32Array;
  private readonly from: Float64Array;

  constructor(count: number, stays: readonly Stay[], of: (stay: Stay) => number) {
    this.starts = new Uint32Array(count + 1);
    for (const stay of stays) this.starts[of(stay) + 1] = (this.starts[of(stay) + 1] as number) + 1;
    for (let at = 0; at < count; at++) {
      this.starts[at + 1] = (this.starts[at + 1] as number) + (this.starts[at] as number);
    }
    const next = this.starts.slice();
    this.places = new Uint32Array(stays.length);
    this.from = new Float64Array(stays.length);
    stays.forEach((stay, place) => {
      const to = next[of(stay)] as number;
      next[of(stay)] = to + 1;
      this.places[to] = place;
      this.from[to] = stay.from;
    });
  }

  startOf(key: number): number {
    return this.starts[key] ?? 0;
  }

  /**
   * The position of the last stay that begins at or before a line; the position before the first if
   * none does.
   */
  lastPlace(key: number, line: number): number {
    const start = this.startOf(key);
    return start + upperBound(this.from.subarray(start, this.starts[key + 1]), line) - 1;
  }

  /** The stay at a position, if it has the key. */
  at(key: number, place: number): number {
    const isOf = place >= this.startOf(key) && place < (this.starts[key + 1] as number);
    return isOf ? (this.places[place] as number) : NONE;
  }

  last(key: number, line: number): number {
    return this.at(key, this.lastPlace(key, line));
  }
}
