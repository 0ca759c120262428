// Traffic of a recording, counted while it grows and whenever other messages are shown.

import { effect, type Signal, signal } from "@preact/signals";
import type { Recording } from "../model/recording";
import type { Store } from "../state/store";
import { inSlices } from "./slices";
import { Traffic } from "./traffic";

/** All messages over time, and those of them that are shown. */
export interface Counted {
  readonly all: Traffic;
  readonly shown: Traffic;
}

/** The traffic of what the page shows; it is counted once for all parts of it. */
export function trafficOf(store: Store): Signal<Counted> {
  return store.part(CountedTraffic, () => new CountedTraffic(store)).counted;
}

class CountedTraffic {
  readonly counted = signal<Counted>({ all: new Traffic(), shown: new Traffic() });

  constructor(store: Store) {
    effect(() => followGrowth(store, this.counted));
    effect(() => followVisible(store, this.counted));
  }
}

/** Counts messages that come; of those that are counted nothing is counted again. */
function followGrowth(store: Store, counted: Signal<Counted>): void {
  const recording = store.recording.value;
  store.grown.value;
  const known = REACHED.get(recording) ?? { traffic: new Traffic(), rows: 0 };
  REACHED.set(recording, known);
  for (; known.rows < recording.length; known.rows++) addRow(recording, known.rows, known.traffic);
  counted.value = { all: known.traffic, shown: counted.peek().shown };
}

/** Counts what is shown anew whenever that is something else. */
function followVisible(store: Store, counted: Signal<Counted>): () => void {
  const { rows } = store.visible.value;
  const recording = store.recording.peek();
  const controller = new AbortController();
  const shown = new Traffic();
  const step = (from: number, to: number): void => {
    for (let at = from; at < to; at++) addRow(recording, rows[at] as number, shown);
  };
  void inSlices(rows.length, step, controller.signal).then((isWhole) => {
    if (isWhole) counted.value = { all: counted.peek().all, shown };
  });
  return () => controller.abort();
}

function addRow(recording: Recording, row: number, traffic: Traffic): void {
  traffic.add(recording.at.get(row), recording.kind.get(row));
}

/** How far recordings were counted: a cache, which holds what the recordings themselves say. */
const REACHED = new WeakMap<Recording, { readonly traffic: Traffic; rows: number }>();
