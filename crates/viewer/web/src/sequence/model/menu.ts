// The menu for an object of the diagram.

import type { ReadonlySignal } from "@preact/signals";
import type { Peer } from "../../generated/protocol";
import { NONE, type Recording } from "../../model/recording";
import { count } from "../../parts/format";
import { action, type MenuItem } from "../../parts/openMenu";
import { oneLine } from "../../parts/visibleText";
import { addTerm, type Field, term } from "../../query/terms";
import type { Store } from "../../state/store";
import { type SequenceState, sequenceState, toggleGroup, toggleReference } from "../state";
import { type Column, isMerged } from "./columns";
import type { DiagramHit } from "./hit";
import type { Scene } from "./scene";

/** The menu entries for an object of the diagram. */
export function itemsOf(
  store: Store,
  { scene, subject }: MenuSubject,
  hit: DiagramHit,
): MenuItem[] {
  if (hit.is === "nothing") return [];
  const { columns, recording } = scene.value;
  if (hit.is === "column") {
    const column = columns.all[hit.column];
    return column === undefined ? [] : columnItems(store, subject.state, column);
  }
  return [
    ...messageItems(store, recording, hit.row),
    ...referenceItems(sequenceState(store), subject.state, recording, hit.row),
    ...endItems(store, recording, hit.row),
  ];
}

/** The object and the context of a menu. */
interface MenuSubject {
  readonly scene: ReadonlySignal<Scene>;
  readonly subject: { readonly state: SequenceState };
}

function columnItems(store: Store, state: SequenceState, column: Column): MenuItem[] {
  const { group, peers } = column;
  if (group === undefined) return serviceItems(store, peers);
  const isTogether = isMerged(column);
  const all = `${oneLine(group.program, HINT_MAX)} × ${count(group.size)}`;
  const label = isTogether ? "A column for each connection" : `Merge ${all}`;
  const toggle = action(label, () => toggleGroup(state, group.key), "e");
  if (!isTogether) return [...serviceItems(store, peers), toggle];
  return [heading(all), toggle, action("Hide these connections", () => hide(store, peers))];
}

/** The name with which queries find a connection: a well-known name, or the unique name. */
export function queryName({ names, unique }: Peer): string {
  return names[0] ?? unique;
}

/** Shows only messages of a service. */
export function onlyService(store: Store, peer: Peer): void {
  const hidden = new Set(store.hidden.value);
  hidden.delete(peer.id);
  store.setHidden(hidden);
  const buses = store.recording.value.buses;
  const bus = buses[peer.bus];
  addTerm(store, term("name", queryName(peer)));
  if (buses.length > 1 && bus !== undefined) addTerm(store, term("bus", bus.label));
}

/** Hides connections and all their messages. */
function hide(store: Store, peers: readonly Peer[]): void {
  store.setHidden([...store.hidden.value, ...peers.map(({ id }) => id)]);
}

function serviceItems(store: Store, peers: readonly Peer[]): MenuItem[] {
  const [first] = peers;
  if (first === undefined) return [];
  const name = queryName(first);
  return [
    heading(first.label),
    action("Only this service", () => onlyService(store, first)),
    action("Hide this service", () => hide(store, peers)),
    filter(store, "Only messages it sends", "from", name),
    filter(store, "Only messages it receives", "to", name),
  ];
}

function messageItems(store: Store, recording: Recording, row: number): MenuItem[] {
  const subject = recording.subjectOf(row);
  const items = (["member", "interface", "path"] as const).flatMap((field) => {
    const value = recording.text(recording[field].get(subject));
    return value === "" ? [] : [filter(store, `Filter by this ${field}`, field, value)];
  });
  const sender = recording.peers[recording.from.get(row)];
  if (sender === undefined) return items;
  return [...items, filter(store, "Filter by this sender", "from", queryName(sender))];
}

/** Entries about the time reference. Diagrams side by side do not share one. */
function referenceItems(
  own: SequenceState,
  state: SequenceState,
  recording: Recording,
  row: number,
): MenuItem[] {
  if (state !== own) return [];
  const number = row + 1 + recording.before;
  const isReference = state.reference.value === number;
  const label = isReference ? "Count times from the start" : "Count times from here";
  return [action(label, () => toggleReference(state, number), "m")];
}

/** Entries about the sender and the recipients. */
function endItems(store: Store, recording: Recording, row: number): MenuItem[] {
  const ends = new Set([recording.from.get(row), recording.to.get(row)]);
  ends.delete(NONE);
  return [...ends].flatMap((id) => {
    const peer = recording.peers[id];
    return peer === undefined ? [] : serviceItems(store, [peer]).slice(0, 3);
  });
}

function filter(store: Store, label: string, field: Field, value: string): MenuItem {
  const text = term(field, value);
  return action(label, () => addTerm(store, text), oneLine(text, HINT_MAX));
}

function heading(label: string): MenuItem {
  return { kind: "heading", label: oneLine(label, HINT_MAX) };
}

const HINT_MAX = 80;
