// The display options of the diagram. They are kept while other views are displayed.

import { batch, type Signal, signal } from "@preact/signals";
import { numberOf, remembered } from "../state/storage";
import type { Store } from "../state/store";
import type { ColumnGrouping, Merging, Order } from "./model/columns";
import type { Folding } from "./model/runs";
import type { TimeStyle } from "./paint/pen";

/** The display options of the diagram. */
export interface SequenceState {
  readonly down: Signal<"order" | "time">;
  readonly grouping: Signal<ColumnGrouping>;
  readonly order: Signal<Order>;
  readonly merging: Signal<Merging>;
  readonly folding: Signal<Folding>;
  readonly timeStyle: Signal<TimeStyle>;
  /** The number of the time reference message, from 1; undefined if times count from the start. */
  readonly reference: Signal<number | undefined>;
  /** The width of message names in pixels, if the user has chosen it. It is remembered. */
  readonly textWidth: Signal<number | null>;
}

/** The display options of the diagram of all messages. */
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

/** The display options of the diagram of this store. */
export function sequenceState(store: Store): SequenceState {
  return store.part(WholeSequence, () => new WholeSequence()).state;
}

/** Folds or unfolds the group of repetitions that begins with a message, by its number. */
export function toggleRun({ folding }: SequenceState, message: number): void {
  const unfolded = new Set(folding.value.unfolded);
  if (!unfolded.delete(message)) unfolded.add(message);
  folding.value = { ...folding.value, unfolded };
}

/** Gives each connection of a group its own column, or merges them. */
export function toggleGroup({ merging }: SequenceState, group: string): void {
  const expanded = new Set(merging.value.expanded);
  if (!expanded.delete(group)) expanded.add(group);
  merging.value = { ...merging.value, expanded };
}

/** Switches merging of short-lived connections of one program. */
export function toggleMerging({ merging }: SequenceState): void {
  const merges = merging.value.merges === "programs" ? "nothing" : "programs";
  merging.value = { merges, expanded: new Set() };
}

/** Switches folding of repetitions. */
export function toggleFolding({ folding }: SequenceState): void {
  const folds = folding.value.folds === "runs" ? "nothing" : "runs";
  folding.value = { folds, unfolded: new Set() };
}

/** Switches between a linear time axis and one line per message. */
export function toggleDown({ down }: SequenceState): void {
  down.value = down.value === "order" ? "time" : "order";
}

/** Makes a message the time reference, by its number, or resets the reference. */
export function toggleReference({ reference, timeStyle }: SequenceState, message: number): void {
  batch(() => {
    reference.value = reference.value === message ? undefined : message;
    if (reference.value !== undefined) timeStyle.value = "start";
  });
}

/** Switches to the next format of times. */
export function nextTimeStyle({ timeStyle }: SequenceState): void {
  const next = { start: "wall", wall: "delta", delta: "start" } as const;
  timeStyle.value = next[timeStyle.value];
}
