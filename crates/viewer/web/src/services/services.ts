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

/** A connection, or the connections of a process. */
export interface Service {
  /** A key that is unique among the services. */
  readonly key: string;
  readonly label: string;
  readonly peers: readonly Peer[];
  readonly bus: number;
  /**
   * Number of messages that it sends or receives. Services are sorted by this number, so that
   * hiding others does not change the order.
   */
  readonly messages: number;
  readonly standing: ServiceNaming;
}

/** Whether a service has a well-known name. */
export type ServiceNaming = "bus" | "named" | "unnamed";

/** The order of the list. */
export type Sorting = "traffic" | "name";

/** The services of one bus. Services without names form a group of their own if there are many. */
export interface BusSection {
  readonly bus: number;
  readonly services: readonly Service[];
  readonly others: readonly Service[];
}

/** Counts the messages of each connection, incrementally. */
export class ServiceTraffic {
  readonly messages = new Messages();
  private counted = 0;

  constructor(readonly recording: Recording) {}

  /** Counts the messages that were added since the last call. */
  count(): void {
    const { recording } = this;
    for (; this.counted < recording.length; this.counted++) {
      this.messages.add(recording, this.counted);
    }
  }
}

/** Numbers of messages by connection. A message to itself counts once. */
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

  /** The number of messages of one connection. */
  of(peer: number): number {
    return this.counts[peer] ?? 0;
  }

  /** The sum of the numbers of several connections. */
  ofAll(peers: readonly Peer[]): number {
    return peers.reduce((sum, { id }) => sum + this.of(id), 0);
  }
}

/** All services with messages, except recorders. */
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

/** The services with a text in one of their names, by bus, in order. */
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

/** Compares services. The bus itself is the first. */
function precedence(one: Service, other: Service, sorting: Sorting): number {
  const bus = Number(other.standing === "bus") - Number(one.standing === "bus");
  if (bus !== 0) return bus;
  const traffic = sorting === "traffic" ? other.messages - one.messages : 0;
  return traffic || BY_NUMBER.compare(one.label, other.label);
}

/** Compares labels, with `:1.9` before `:1.10`. */
const BY_NUMBER = new Intl.Collator("en", { numeric: true });

/** Whether the messages of a service are displayed. */
export type Visibility = "shown" | "hidden" | "mixed";

/** Whether the messages of these connections are displayed. */
export function tickOf(peers: readonly Peer[], hidden: ReadonlySet<number>): Visibility {
  const count = peers.filter(({ id }) => hidden.has(id)).length;
  if (count === 0) return "shown";
  return count === peers.length ? "hidden" : "mixed";
}

/** The hidden connections after a click on a checkbox: if some were hidden, all become visible. */
export function toggled(peers: readonly Peer[], hidden: ReadonlySet<number>): Set<number> {
  const after = new Set(hidden);
  const isShown = tickOf(peers, hidden) === "shown";
  for (const { id } of peers) {
    if (isShown) after.add(id);
    else after.delete(id);
  }
  return after;
}

/** The hidden connections after hidden and visible ones are exchanged. */
export function inverted(peers: readonly Peer[], hidden: ReadonlySet<number>): Set<number> {
  return new Set(peers.filter(({ id }) => !hidden.has(id)).map(({ id }) => id));
}

/** If there are more services without names, they form a group of their own. */
const OTHERS_MAX = 8;
