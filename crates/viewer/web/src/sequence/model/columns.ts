// The columns of the diagram: the peers that have one, and their order.

import type { Peer } from "../../generated/protocol";
import { NONE, type Recording } from "../../model/recording";
import type { Tally } from "./tally";

/** The peers that share a column. */
export type ColumnGrouping = "connection" | "process";

/** The order and position of columns. */
export type Order =
  /** Lanes are reused: a column has a lane only while its peer is active. */
  | "compact"
  /** Each column has its own position, in the order of the first messages. */
  | "appearance"
  /** Each column has its own position, the busiest first. */
  | "traffic";

/** The short-lived connections that share a column. */
export interface Merging {
  readonly merges: "programs" | "nothing";
  /** Keys of groups whose connections have separate columns nevertheless. */
  readonly expanded: ReadonlySet<string>;
}

/** Short-lived connections of one program. */
export interface ProgramGroup {
  readonly key: string;
  readonly program: string;
  readonly size: number;
}

export interface Column {
  /** A key that is unique among the columns. */
  readonly key: string;
  readonly label: string;
  readonly peers: readonly Peer[];
  readonly bus: number;
  readonly messages: number;
  /** The group that this column represents, or belongs to while the group is expanded. */
  readonly group?: ProgramGroup;
}

/** True if a column represents all connections of a group. */
export function isMerged({ group, peers }: Column): boolean {
  return group !== undefined && peers.length === group.size;
}

export interface Columns {
  readonly all: readonly Column[];
  /** The column of each connection; {@link NONE} if it has none. */
  readonly ofPeer: Uint32Array;
}

/** Options of the choice of columns. */
export interface ColumnOptions {
  readonly grouping: ColumnGrouping;
  readonly order: Order;
  readonly hidden: ReadonlySet<number>;
  readonly merging: Merging;
  /** Whether more messages can arrive. */
  readonly growth: "complete" | "live";
}

/** The name of the bus itself. */
export const DRIVER = "org.freedesktop.DBus";

/**
 * The columns of the active peers.
 *
 * The bus is displayed like other peers and is not hidden by default: needless AddMatch and
 * GetNameOwner calls and storms of NameOwnerChanged are among the most frequent problems, and the
 * statistics count them too. Its column is the first, so that its many arrows cross as few others
 * as possible. One checkbox hides it.
 */
export function columnsOf(recording: Recording, tally: Tally, options: ColumnOptions): Columns {
  const { grouping, hidden, merging, order } = options;
  const programs = merging.merges === "programs" ? groupsOf(recording, tally, hidden) : NO_GROUPS;
  const columns = new Map<string, { peers: [Peer, ...Peer[]]; group: ProgramGroup | undefined }>();
  for (const id of tally.appeared) {
    const peer = recording.peers[id];
    if (peer === undefined || hidden.has(id)) continue;
    const group = programs.get(programOf(peer) ?? "");
    const isOne = group !== undefined && isShortLived(peer, tally);
    const isTogether = isOne && !merging.expanded.has(group.key);
    const key = isTogether ? group.key : keyOf(peer, grouping);
    const known = columns.get(key);
    if (known === undefined) columns.set(key, { peers: [peer], group: isOne ? group : undefined });
    else known.peers.push(peer);
  }
  const all = [...columns].map(([key, { peers, group }]) => column(key, peers, group, tally));
  all.sort((one, other) => precedence(one, other, order));
  return { all, ofPeer: places(recording, all) };
}

/** Groups of short-lived connections by key. A group has at least {@link GROUP_MIN} connections. */
function groupsOf(
  recording: Recording,
  tally: Tally,
  hidden: ReadonlySet<number>,
): ReadonlyMap<string, ProgramGroup> {
  const sizes = new Map<string, number>();
  for (const id of tally.appeared) {
    const peer = recording.peers[id];
    if (peer === undefined || hidden.has(id) || !isShortLived(peer, tally)) continue;
    const key = programOf(peer);
    if (key !== undefined) sizes.set(key, (sizes.get(key) ?? 0) + 1);
  }
  const groups = new Map<string, ProgramGroup>();
  for (const [key, size] of sizes) {
    const program = key.slice(key.indexOf("/") + 1);
    if (size >= GROUP_MIN) groups.set(key, { key, program, size });
  }
  return groups;
}

/** The key of a program on one bus; undefined if the program is unknown. */
export function programOf({ bus, process }: Peer): string | undefined {
  const program = process?.program ?? undefined;
  return program === undefined ? undefined : `program ${bus}/${program}`;
}

/**
 * True if a connection is short-lived: it disconnected, has no well-known name and few messages.
 */
function isShortLived(peer: Peer, tally: Tally): boolean {
  return isPassing(peer) && (tally.messages[peer.id] ?? 0) <= SHORT_MAX;
}

/** True if a connection without a well-known name disconnected before the recording ended. */
export function isPassing({ left, names, recorder, unique }: Peer): boolean {
  return names.length === 0 && !recorder && unique !== DRIVER && left !== null;
}

const NO_GROUPS: ReadonlyMap<string, ProgramGroup> = new Map();
/** Minimum number of connections that are merged. */
export const GROUP_MIN = 3;
/** A connection with more messages is not merged, because it is interesting by itself. */
const SHORT_MAX = 100;

/** The key that connections in the same column share. */
export function keyOf(peer: Peer, grouping: ColumnGrouping): string {
  const pid = peer.process?.pid ?? null;
  const isGrouped = grouping === "process" && pid !== null && peer.unique !== DRIVER;
  return isGrouped ? `${peer.bus}/${pid}` : `${peer.bus}/${peer.unique}`;
}

/** The first connection with a well-known name, or otherwise the first connection. */
export function namedPeer(peers: Peers): Peer {
  return peers.find(({ names }) => names.length > 0) ?? peers[0];
}

/** At least one connection. */
export type Peers = readonly [Peer, ...Peer[]];

function column(key: string, peers: Peers, group: ProgramGroup | undefined, tally: Tally): Column {
  const named = namedPeer(peers);
  const messages = peers.reduce((sum, { id }) => sum + (tally.messages[id] ?? 0), 0);
  const known = { key, peers, bus: named.bus, messages, ...(group === undefined ? {} : { group }) };
  const more = peers.length > 1 ? ` +${peers.length - 1}` : "";
  const isOne = group !== undefined && group.size === peers.length;
  return { ...known, label: isOne ? `${group.program} × ${group.size}` : named.label + more };
}

/** Compares columns. Sorting keeps the order of appearance where the result is 0. */
function precedence(one: Column, other: Column, order: Order): number {
  if (one.bus !== other.bus) return one.bus - other.bus;
  const driver = Number(isDriver(other)) - Number(isDriver(one));
  return driver || (order === "traffic" ? other.messages - one.messages : 0);
}

/** True for the column of a bus itself. */
export function isDriver(column: Column): boolean {
  return column.peers[0]?.unique === DRIVER;
}

function places(recording: Recording, all: readonly Column[]): Uint32Array {
  const ofPeer = new Uint32Array(recording.peers.length).fill(NONE);
  all.forEach(({ peers }, place) => {
    for (const { id } of peers) ofPeer[id] = place;
  });
  return ofPeer;
}
