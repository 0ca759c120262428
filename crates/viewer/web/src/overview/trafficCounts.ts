// Counts of the traffic of a recording, updated while it grows and when other messages are
// displayed.

import { effect, type Signal, signal } from "@preact/signals";
import type { Recording } from "../model/recording";
import type { Store } from "../state/store";
import { inSlices } from "./slices";
import { Traffic } from "./traffic";

/** All messages over time, and the displayed messages over time. */
export interface Counted {
  readonly all: Traffic;
  readonly shown: Traffic;
}

/** The traffic of a page. It is counted once and shared by all parts of the page. */
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

/** Counts new messages without counting the others again. */
function followGrowth(store: Store, counted: Signal<Counted>): void {
  const recording = store.recording.value;
  store.grown.value;
  const known = REACHED.get(recording) ?? { traffic: new Traffic(), rows: 0 };
  REACHED.set(recording, known);
  for (; known.rows < recording.length; known.rows++) addRow(recording, known.rows, known.traffic);
  counted.value = { all: known.traffic, shown: counted.peek().shown };
}

/** Counts the displayed messages again whenever the selection changes. */
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

/** The counted rows of recordings: a cache of data that the recordings contain. */
const REACHED = new WeakMap<Recording, { readonly traffic: Traffic; rows: number }>();
