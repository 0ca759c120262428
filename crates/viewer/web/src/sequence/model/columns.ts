// The columns of the diagram: who has one, and in which order.

import { NONE, type Peer, type Recording } from "../../model/recording";
import type { Tally } from "./tally";

/** What has a column of its own. */
export type Grouping = "connection" | "process";

/** In which order columns stand. */
export type Order = "appearance" | "traffic";

export interface Column {
  /** A name of it that no other column has. */
  readonly key: string;
  readonly label: string;
  readonly peers: readonly Peer[];
  readonly bus: number;
  readonly messages: number;
}

export interface Columns {
  readonly all: readonly Column[];
  /** Of each connection its column; {@link NONE} if it has none. */
  readonly ofPeer: Uint32Array;
}

/** How columns are chosen. */
export interface ColumnOptions {
  readonly grouping: Grouping;
  readonly order: Order;
  readonly hidden: ReadonlySet<number>;
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
  const groups = new Map<string, Peer[]>();
  for (const id of tally.appeared) {
    const peer = recording.peers[id];
    if (peer === undefined || options.hidden.has(id)) continue;
    const key = keyOf(peer, options.grouping);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [peer]);
    else group.push(peer);
  }
  const all = [...groups].map(([key, peers]) => column(key, peers, tally));
  all.sort((one, other) => precedence(one, other, options.order));
  return { all, ofPeer: places(recording, all) };
}

/** What connections have in common that have one column. */
export function keyOf(peer: Peer, grouping: Grouping): string {
  const pid = peer.process?.pid ?? null;
  const isGrouped = grouping === "process" && pid !== null && peer.unique !== DRIVER;
  return isGrouped ? `${peer.bus}/${pid}` : `${peer.bus}/${peer.unique}`;
}

function column(key: string, peers: readonly Peer[], tally: Tally): Column {
  const named = peers.find(({ names }) => names.length > 0) ?? (peers[0] as Peer);
  const more = peers.length > 1 ? ` +${peers.length - 1}` : "";
  const messages = peers.reduce((sum, { id }) => sum + (tally.messages[id] ?? 0), 0);
  return { key, label: named.label + more, peers, bus: named.bus, messages };
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
