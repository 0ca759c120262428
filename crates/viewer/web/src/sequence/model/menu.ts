// What can be done with what is pointed at.

import { NONE, type Peer } from "../../model/recording";
import { addTerm, term } from "../../query/terms";
import type { Store } from "../../state/store";
import type { Hit } from "./hit";
import type { Scene } from "./scene";

/** Something that can be done. */
export interface Action {
  readonly title: string;
  readonly act: () => void;
}

/** What can be done with what is pointed at. */
export function actionsOf(store: Store, scene: Scene, hit: Hit): Action[] {
  if (hit.is === "nothing") return [];
  if (hit.is === "column") {
    const column = scene.columns.all[hit.column];
    return column === undefined ? [] : serviceActions(store, column.peers, column.label);
  }
  return messageActions(store, scene, hit.row);
}

/** The name by which queries find a connection: a well-known one, or the unique one. */
export function queryName({ names, unique }: Peer): string {
  return names[0] ?? unique;
}

/** Shows messages of a service alone. */
export function onlyService(store: Store, peer: Peer): void {
  const hidden = new Set(store.hidden.value);
  hidden.delete(peer.id);
  store.setHidden(hidden);
  addTerm(store, term("name", queryName(peer)));
  const buses = store.recording.value.buses;
  const bus = buses[peer.bus];
  if (buses.length > 1 && bus !== undefined) addTerm(store, term("bus", bus.label));
}

/** Hides connections, and all messages they are involved in. */
export function hidePeers(store: Store, peers: readonly Peer[]): void {
  store.setHidden([...store.hidden.value, ...peers.map(({ id }) => id)]);
}

function serviceActions(store: Store, peers: readonly Peer[], label: string): Action[] {
  const [first] = peers;
  if (first === undefined) return [];
  const name = queryName(first);
  return [
    { title: `Only ${label}`, act: () => onlyService(store, first) },
    { title: `Hide ${label}`, act: () => hidePeers(store, peers) },
    { title: `Only what ${label} sends`, act: () => addTerm(store, term("from", name)) },
    { title: `Only what ${label} gets`, act: () => addTerm(store, term("to", name)) },
  ];
}

function messageActions(store: Store, scene: Scene, row: number): Action[] {
  const { recording } = scene;
  const subject = recording.subjectOf(row);
  const field = (name: "member" | "path" | "interface"): Action[] => {
    const value = recording.text(recording[name].get(subject));
    if (value === "") return [];
    return [{ title: `Filter by ${name}: ${value}`, act: () => addTerm(store, term(name, value)) }];
  };
  const from = recording.from.get(row);
  const to = recording.to.get(row);
  const ends = [from, ...(to === from ? [] : [to])].filter((peer) => peer !== NONE);
  const services = ends.flatMap((id) => {
    const peer = recording.peers[id];
    return peer === undefined ? [] : serviceActions(store, [peer], peer.label).slice(0, 2);
  });
  const sender = recording.peers[from];
  const bySender: Action[] =
    sender === undefined
      ? []
      : [
          {
            title: `Filter by sender: ${sender.label}`,
            act: () => addTerm(store, term("from", queryName(sender))),
          },
        ];
  return [...field("member"), ...field("interface"), ...field("path"), ...bySender, ...services];
}
