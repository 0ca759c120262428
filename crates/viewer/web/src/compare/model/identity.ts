// Identification of peers across recordings. Unique names differ between recordings, but other
// names do not.

import type { Peer } from "../../generated/protocol";
import type { Recording } from "../../model/recording";
import { DRIVER } from "../../sequence/model/columns";
import type { Side } from "../sides";

/**
 * The name that identifies a peer in another recording: a well-known name without process numbers,
 * or else its program, or else its unique name.
 */
export function identityOf({ names, process, unique }: Pick<Peer, "names" | "process" | "unique">) {
  if (unique === DRIVER) return unique;
  return [...names].sort()[0]?.replace(PROCESS_NUMBER, "*") ?? process?.program ?? unique;
}

/**
 * Numbers such as in `org.gtk.vfs.mountpoint_1234`, which the table of differences also ignores.
 */
const PROCESS_NUMBER = /(?<=[_-]|instance)\d{3,}(?![\p{L}\p{N}])/gu;

/** Numbers for services, which are equal for the same service on both sides. */
export class Identities {
  private readonly numbers = new Map<string, number>();

  constructor(
    private readonly recording: Recording,
    private readonly sides: readonly Side[],
  ) {}

  /** The count of distinct services. */
  get count(): number {
    return this.numbers.size;
  }

  /**
   * The number of each peer, by peer index. Peers of the recorder have the number {@link RECORDER}.
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
   * The index of a bus on its side. The first bus of a side is compared with the first bus of the
   * other.
   */
  private placeOf(bus: number): number {
    const places = this.sides.map(({ buses }) => buses.indexOf(bus));
    return places.find((place) => place >= 0) ?? -1;
  }
}

/** The number of the recorder, whose calls are not part of a comparison. */
export const RECORDER = 0xffffffff;
