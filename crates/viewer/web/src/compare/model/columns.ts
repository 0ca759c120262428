// The shared columns of two diagrams: each service is at the same position in both.

import type { Peer } from "../../generated/protocol";
import { NONE, type Recording } from "../../model/recording";
import { type Column, type Columns, DRIVER } from "../../sequence/model/columns";
import type { Tally } from "../../sequence/model/tally";
import type { Side } from "../sides";
import { identityOf } from "./identity";

/** A side and the peers that take part in its visible messages. */
export interface SideTally {
  readonly side: Side;
  readonly tally: Tally;
}

/**
 * The columns of both sides. A service with the same name has the same position on both sides.
 * Columns are in the order of appearance before, followed by services that exist only after. A
 * service that is missing on a side has a column without peers there.
 */
export function sharedColumns(
  recording: Recording,
  tallies: readonly [SideTally, SideTally],
  hidden: ReadonlySet<number>,
): readonly [Columns, Columns] {
  const before = membersOf(recording, tallies[0], hidden);
  const after = membersOf(recording, tallies[1], hidden);
  const all = [...new Map([...before, ...after])].map(([key, member]) => ({
    key,
    member: before.get(key) ?? member,
  }));
  all.sort((one, other) => precedence(one.member, other.member));
  const columns = (members: Members, { side, tally }: SideTally): Columns => {
    const shared = all.map(({ key, member }) => {
      const own = members.get(key);
      const { place, peer } = own ?? member;
      const peers = own === undefined ? [] : [own.peer];
      return column(key, peers, peer.label, side.buses[place] ?? 0, tally);
    });
    return { all: shared, ofPeer: placesOf(recording, shared) };
  };
  return [columns(before, tallies[0]), columns(after, tallies[1])];
}

/** A connection, and the index of its bus on its side. */
interface ColumnMember {
  readonly peer: Peer;
  readonly place: number;
}

/**
 * Connections by the name that is the same on both sides, with a number for connections of the same
 * name.
 */
type Members = Map<string, ColumnMember>;

function membersOf(
  recording: Recording,
  { side, tally }: SideTally,
  hidden: ReadonlySet<number>,
): Members {
  const members: Members = new Map();
  const counts = new Map<string, number>();
  for (const id of tally.appeared) {
    const peer = recording.peers[id];
    if (peer === undefined || hidden.has(id)) continue;
    const place = side.buses.indexOf(peer.bus);
    const name = `${place}/${identityOf(peer)}`;
    const nth = counts.get(name) ?? 0;
    counts.set(name, nth + 1);
    members.set(`${name}/${nth}`, { peer, place });
  }
  return members;
}

function column(
  key: string,
  peers: readonly Peer[],
  label: string,
  bus: number,
  tally: Tally,
): Column {
  const messages = peers.reduce((sum, { id }) => sum + (tally.messages[id] ?? 0), 0);
  return { key, label, peers, bus, messages };
}

/** Sorts by bus, with the bus itself first. */
function precedence(one: ColumnMember, other: ColumnMember): number {
  if (one.place !== other.place) return one.place - other.place;
  return Number(other.peer.unique === DRIVER) - Number(one.peer.unique === DRIVER);
}

function placesOf(recording: Recording, all: readonly Column[]): Uint32Array {
  const ofPeer = new Uint32Array(recording.peers.length).fill(NONE);
  all.forEach(({ peers }, place) => {
    for (const { id } of peers) ofPeer[id] = place;
  });
  return ofPeer;
}
