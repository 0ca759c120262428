// How the diagram is looked at. It stays while other views are.

import { batch, type Signal, signal } from "@preact/signals";
import { numberOf, remembered } from "../state/storage";
import type { Store } from "../state/store";
import type { ColumnGrouping, Merging, Order } from "./model/columns";
import type { Folding } from "./model/runs";
import type { TimeStyle } from "./paint/pen";

/** How the diagram is looked at. */
export interface SequenceState {
  readonly down: Signal<"order" | "time">;
  readonly grouping: Signal<ColumnGrouping>;
  readonly order: Signal<Order>;
  readonly merging: Signal<Merging>;
  readonly folding: Signal<Folding>;
  readonly timeStyle: Signal<TimeStyle>;
  /** The number of the message from which times since the start are told instead, from 1. */
  readonly reference: Signal<number | undefined>;
  /** The width of the names of messages in pixels, if somebody has chosen it; it is there the next time. */
  readonly textWidth: Signal<number | null>;
}

/** The state of the diagram of all messages. */
class WholeSequence {
  readonly state: SequenceState = {
    down: signal("order"),
    grouping: signal("connection"),
    order: signal("compact"),
    merging: signal({ merges: "programs", expanded: new Set<string>() }),
    folding: signal({ folds: "runs", unfolded: new Set<number>() }),
    timeStyle: signal("start"),
    reference: signal(undefined),
    textWidth: remembered<number | null>("sequence-text-width", null, numberOf),
  };
}

/** How the diagram of this store is looked at. */
export function sequenceState(store: Store): SequenceState {
  return store.part(WholeSequence, () => new WholeSequence()).state;
}

/** Folds or unfolds the run that begins with a message, by its number. */
export function toggleRun({ folding }: SequenceState, message: number): void {
  const unfolded = new Set(folding.value.unfolded);
  if (!unfolded.delete(message)) unfolded.add(message);
  folding.value = { ...folding.value, unfolded };
}

/** Gives each connection of a group a column of its own, or all of them one. */
export function toggleGroup({ merging }: SequenceState, group: string): void {
  const expanded = new Set(merging.value.expanded);
  if (!expanded.delete(group)) expanded.add(group);
  merging.value = { ...merging.value, expanded };
}

/** Merges short-lived connections of one program, or none. */
export function toggleMerging({ merging }: SequenceState): void {
  const merges = merging.value.merges === "programs" ? "nothing" : "programs";
  merging.value = { merges, expanded: new Set() };
}

/** Folds all runs, or none. */
export function toggleFolding({ folding }: SequenceState): void {
  const folds = folding.value.folds === "runs" ? "nothing" : "runs";
  folding.value = { folds, unfolded: new Set() };
}

/** Has time go down to scale, or each message have a line. */
export function toggleDown({ down }: SequenceState): void {
  down.value = down.value === "order" ? "time" : "order";
}

/** Has times told from a message, by its number; no longer, if they are. */
export function toggleReference({ reference, timeStyle }: SequenceState, message: number): void {
  batch(() => {
    reference.value = reference.value === message ? undefined : message;
    if (reference.value !== undefined) timeStyle.value = "start";
  });
}

/** Goes on to the next way of telling times. */
export function nextTimeStyle({ timeStyle }: SequenceState): void {
  const next = { start: "wall", wall: "delta", delta: "start" } as const;
  timeStyle.value = next[timeStyle.value];
}
