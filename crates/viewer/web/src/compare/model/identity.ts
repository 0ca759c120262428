// Who is the same in two recordings: numbers of connections are others each time, names are not.

import type { Peer } from "../../generated/protocol";
import type { Recording } from "../../model/recording";
import { DRIVER } from "../../sequence/model/columns";
import type { Side } from "../sides";

/**
 * The name by which a connection is found again: a well-known one, without the number of a process in
 * it, else its program, else its unique name.
 */
export function identityOf({ names, process, unique }: Pick<Peer, "names" | "process" | "unique">) {
  if (unique === DRIVER) return unique;
  return [...names].sort()[0]?.replace(PROCESS_NUMBER, "*") ?? process?.program ?? unique;
}

/** Such as in `org.gtk.vfs.mountpoint_1234`: the table of differences leaves them out alike. */
const PROCESS_NUMBER = /(?<=[_-]|instance)\d{3,}(?![\p{L}\p{N}])/gu;

/** Numbers of services, the same for those that are the same on both sides of a comparison. */
export class Identities {
  private readonly numbers = new Map<string, number>();

  constructor(
    private readonly recording: Recording,
    private readonly sides: readonly Side[],
  ) {}

  /** How many there are. */
  get count(): number {
    return this.numbers.size;
  }

  /**
   * The number of each connection, by connection; of those of the recorder itself it is {@link
   * RECORDER}.
   */
  ofPeers(): Uint32Array {
    const { peers } = this.recording;
    const found = new Uint32Array(peers.length);
    for (const peer of peers) {
      if (peer === undefined) continue;
      found[peer.id] = peer.recorder ? RECORDER : this.number(peer.bus, identityOf(peer));
    }
    return found;
  }

  /** The number of a name on a bus. */
  number(bus: number, name: string): number {
    const key = `${this.placeOf(bus)}/${name}`;
    const known = this.numbers.get(key);
    if (known !== undefined) return known;
    this.numbers.set(key, this.numbers.size);
    return this.numbers.size - 1;
  }

  /**
   * The place of a bus among those of its side: the first of one is compared with the first of the
   * other.
   */
  private placeOf(bus: number): number {
    const places = this.sides.map(({ buses }) => buses.indexOf(bus));
    return places.find((place) => place >= 0) ?? -1;
  }
}

/** What the recorder itself asks is not part of what it records. */
export const RECORDER = 0xffffffff;
