// The services of a recording, as they are listed.

import type { Peer } from "../generated/protocol";
import { NONE, type Recording } from "../model/recording";
import {
  type ColumnGrouping,
  DRIVER,
  keyOf,
  namedPeer,
  type Peers,
} from "../sequence/model/columns";

/** A connection, or those of a process. */
export interface Service {
  /** A name of it that no other service has. */
  readonly key: string;
  readonly label: string;
  readonly peers: readonly Peer[];
  readonly bus: number;
  /**
   * Messages that it sends or is sent; by these services are sorted, so that none moves when others
   * are hidden.
   */
  readonly messages: number;
  readonly standing: ServiceNaming;
}

/** Whether it is known by a name that says what it is. */
export type ServiceNaming = "bus" | "named" | "unnamed";

/** In which order services are listed. */
export type Sorting = "traffic" | "name";

/** Services of one bus. Those without names are told apart where there are many. */
export interface BusSection {
  readonly bus: number;
  readonly services: readonly Service[];
  readonly others: readonly Service[];
}

/** The messages of each connection, counted once and on while there are more. */
export class ServiceTraffic {
  readonly messages = new Messages();
  private counted = 0;

  constructor(readonly recording: Recording) {}

  /** Counts what has not been counted. */
  count(): void {
    const { recording } = this;
    for (; this.counted < recording.length; this.counted++) {
      this.messages.add(recording, this.counted);
    }
  }
}

/** Messages of connections: one to itself counts once. */
export class Messages {
  private readonly counts: number[] = [];

  add(recording: Recording, row: number): void {
    const sender = recording.from.get(row);
    const receiver = recording.to.get(row);
    this.count(sender);
    if (receiver !== sender) this.count(receiver);
  }

  private count(peer: number): void {
    if (peer !== NONE) this.counts[peer] = this.of(peer) + 1;
  }

  /** Those of one connection. */
  of(peer: number): number {
    return this.counts[peer] ?? 0;
  }

  /** Those of several, each for itself. */
  ofAll(peers: readonly Peer[]): number {
    return peers.reduce((sum, { id }) => sum + this.of(id), 0);
  }
}

/** All services that have messages, but those that are there to record. */
export function servicesOf(traffic: ServiceTraffic, grouping: ColumnGrouping): Service[] {
  const groups = new Map<string, [Peer, ...Peer[]]>();
  for (const peer of traffic.recording.peers) {
    if (peer === undefined || peer.recorder || traffic.messages.of(peer.id) === 0) continue;
    const key = keyOf(peer, grouping);
    const known = groups.get(key);
    if (known === undefined) groups.set(key, [peer]);
    else known.push(peer);
  }
  return [...groups].map(([key, peers]) => service(key, peers, traffic));
}

function service(key: string, peers: Peers, traffic: ServiceTraffic): Service {
  const known = namedPeer(peers);
  const isBus = known.unique === DRIVER;
  const isNamed = known.label !== known.unique;
  return {
    key,
    label: known.label,
    peers,
    bus: known.bus,
    messages: traffic.messages.ofAll(peers),
    standing: isBus ? "bus" : isNamed ? "named" : "unnamed",
  };
}

/** The services that have a text in one of their names, by bus, in their order. */
export function sectionsOf(
  services: readonly Service[],
  wanted: string,
  sorting: Sorting,
): BusSection[] {
  const found = services.filter((service) => isFound(service, wanted));
  found.sort((one, other) => precedence(one, other, sorting));
  const buses = [...new Set(found.map(({ bus }) => bus))].sort((one, other) => one - other);
  return buses.map((bus) => section(found, bus, wanted === "" ? "apart" : "together"));
}

function section(found: readonly Service[], bus: number, place: "apart" | "together"): BusSection {
  const all = found.filter((service) => service.bus === bus);
  const others = all.filter(({ standing }) => standing === "unnamed");
  const isApart = place === "apart" && others.length > OTHERS_MAX && others.length < all.length;
  if (!isApart) return { bus, services: all, others: [] };
  return { bus, services: all.filter(({ standing }) => standing !== "unnamed"), others };
}

function isFound({ peers, label }: Service, wanted: string): boolean {
  const text = wanted.trim().toLowerCase();
  if (text === "") return true;
  const has = (name: string | null): boolean => name?.toLowerCase().includes(text) ?? false;
  return (
    has(label) ||
    peers.some(
      ({ unique, names, process }) =>
        has(unique) ||
        names.some(has) ||
        has(process?.program ?? null) ||
        has(process?.unit ?? null),
    )
  );
}

/** The bus itself comes first. */
function precedence(one: Service, other: Service, sorting: Sorting): number {
  const bus = Number(other.standing === "bus") - Number(one.standing === "bus");
  if (bus !== 0) return bus;
  const traffic = sorting === "traffic" ? other.messages - one.messages : 0;
  return traffic || BY_NUMBER.compare(one.label, other.label);
}

/** Compares labels, in which `:1.9` comes before `:1.10`. */
const BY_NUMBER = new Intl.Collator("en", { numeric: true });

/** How much of services is shown. */
export type Visibility = "shown" | "hidden" | "mixed";

/** How much of these connections is shown. */
export function tickOf(peers: readonly Peer[], hidden: ReadonlySet<number>): Visibility {
  const count = peers.filter(({ id }) => hidden.has(id)).length;
  if (count === 0) return "shown";
  return count === peers.length ? "hidden" : "mixed";
}

/** What is hidden after connections were ticked or unticked: shown if they were not all. */
export function toggled(peers: readonly Peer[], hidden: ReadonlySet<number>): Set<number> {
  const after = new Set(hidden);
  const isShown = tickOf(peers, hidden) === "shown";
  for (const { id } of peers) {
    if (isShown) after.add(id);
    else after.delete(id);
  }
  return after;
}

/** What is hidden when that which was shown is, and the other way round. */
export function inverted(peers: readonly Peer[], hidden: ReadonlySet<number>): Set<number> {
  return new Set(peers.filter(({ id }) => !hidden.has(id)).map(({ id }) => id));
}

/** More services without names than this are told apart from those with names. */
const OTHERS_MAX = 8;
