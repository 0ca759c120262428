// The columns of the diagram: who has one, and in which order.

import type { Peer } from "../../generated/protocol";
import { NONE, type Recording } from "../../model/recording";
import type { Tally } from "./tally";

/** What has a column of its own. */
export type ColumnGrouping = "connection" | "process";

/** Where columns stand. */
export type Order =
  /** In lanes that are used again: a column has one only while it takes part. */
  | "compact"
  /** Each in a place of its own, in the order of its first message. */
  | "appearance"
  /** Each in a place of its own, the busiest first. */
  | "traffic";

/** Which short-lived connections have one column together. */
export interface Merging {
  readonly merges: "programs" | "nothing";
  /** Keys of groups of which each connection has its own column all the same. */
  readonly expanded: ReadonlySet<string>;
}

/** Short-lived connections of one program. */
export interface ProgramGroup {
  readonly key: string;
  readonly program: string;
  readonly size: number;
}

export interface Column {
  /** A name of it that no other column has. */
  readonly key: string;
  readonly label: string;
  readonly peers: readonly Peer[];
  readonly bus: number;
  readonly messages: number;
  /** The group that it stands for, or that it is one of while the group is expanded. */
  readonly group?: ProgramGroup;
}

/** Whether a column stands for all connections of a group. */
export function isMerged({ group, peers }: Column): boolean {
  return group !== undefined && peers.length === group.size;
}

export interface Columns {
  readonly all: readonly Column[];
  /** Of each connection its column; {@link NONE} if it has none. */
  readonly ofPeer: Uint32Array;
}

/** How columns are chosen. */
export interface ColumnOptions {
  readonly grouping: ColumnGrouping;
  readonly order: Order;
  readonly hidden: ReadonlySet<number>;
  readonly merging: Merging;
  /** Whether more messages come. */
  readonly growth: "complete" | "live";
}

/** The name of the bus itself. */
export const DRIVER = "org.freedesktop.DBus";

/**
 * The columns of those who take part.
 *
 * The bus itself is shown like everybody else, and not hidden until asked for: needless AddMatch and
 * GetNameOwner calls and storms of NameOwnerChanged are among the most frequent things that are
 * wrong, and what is counted elsewhere counts them too. Its column is the first, so that its many
 * arrows cross as few others as they can, and one tick takes it away.
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

/** Groups of short-lived connections by their keys; fewer than {@link GROUP_MIN} make none. */
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

/** What the connections of one program on one bus have in common; undefined if that is not known. */
export function programOf({ bus, process }: Peer): string | undefined {
  const program = process?.program ?? undefined;
  return program === undefined ? undefined : `program ${bus}/${program}`;
}

/** Whether a connection came to ask something and left again: it has no name, and few messages. */
function isShortLived(peer: Peer, tally: Tally): boolean {
  return isPassing(peer) && (tally.messages[peer.id] ?? 0) <= SHORT_MAX;
}

/** Whether a connection without a name has left before the recording ended. */
export function isPassing({ left, names, recorder, unique }: Peer): boolean {
  return names.length === 0 && !recorder && unique !== DRIVER && left !== null;
}

const NO_GROUPS: ReadonlyMap<string, ProgramGroup> = new Map();
/** Fewer connections than these are not merged. */
export const GROUP_MIN = 3;
/** A connection with more messages is of interest by itself. */
const SHORT_MAX = 100;

/** What connections have in common that have one column. */
export function keyOf(peer: Peer, grouping: ColumnGrouping): string {
  const pid = peer.process?.pid ?? null;
  const isGrouped = grouping === "process" && pid !== null && peer.unique !== DRIVER;
  return isGrouped ? `${peer.bus}/${pid}` : `${peer.bus}/${peer.unique}`;
}

/** The first connection that has a name, or else the first one. */
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

/** Sorting keeps the order of appearance where this says nothing. */
function precedence(one: Column, other: Column, order: Order): number {
  if (one.bus !== other.bus) return one.bus - other.bus;
  const driver = Number(isDriver(other)) - Number(isDriver(one));
  return driver || (order === "traffic" ? other.messages - one.messages : 0);
}

/** Whether a column is that of a bus itself. */
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
