// Numbers of what is selected, asked for when that has come to rest.

import {
  computed,
  effect,
  type ReadonlySignal,
  signal,
  useSignal,
  useSignalEffect,
} from "@preact/signals";
import type { StatisticsAnswer } from "../generated/protocol";
import { type Asked, useAnswer } from "../state/answer";
import { useStore } from "../state/context";
import type { Store, StoreSelection } from "../state/store";

/** The table of this name, of what is selected. */
export function useStatistics(
  subject: () => string | undefined,
): ReadonlySignal<Asked<StatisticsAnswer>> {
  const settled = settledSelection(useStore());
  return useAnswer(() => {
    const name = subject();
    const selection = settled.value;
    if (name === undefined || selection === undefined) return undefined;
    return { ask: "statistics" as const, subject: name, ...selection };
  });
}

/**
 * What is selected, once that has stayed so for a moment; while a stretch of time is dragged, nothing is
 * asked. Of a bus it is told again every second in which more has come. Undefined before there is
 * anything.
 */
export function settledSelection(store: Store): ReadonlySignal<StoreSelection | undefined> {
  return store.part(SettledSelection, () => new SettledSelection(store)).selection;
}

class SettledSelection {
  readonly selection = signal<StoreSelection | undefined>(undefined);

  constructor(store: Store) {
    const isThere = computed(() => {
      store.grown.value;
      return store.recording.value.length > 0;
    });
    effect(() => {
      const selection = store.selection.value;
      if (!isThere.value) return;
      const timer = setTimeout(() => {
        this.selection.value = { ...selection };
      }, REST_MS);
      return () => clearTimeout(timer);
    });
    let isGrowing = false;
    effect(() => {
      store.grown.value;
      if (isGrowing || !store.isLive.value) return;
      isGrowing = true;
      setTimeout(() => {
        isGrowing = false;
        this.selection.value = { ...store.selection.peek() };
      }, GROWTH_MS);
    });
  }
}

/**
 * The rows of the messages that are shown; of a bus those of the last second, as there are others many
 * times a second.
 */
export function restingRows(store: Store): Uint32Array {
  settledSelection(store).value;
  return (store.isLive.value ? store.visible.peek() : store.visible.value).rows;
}

/** A value that is found out of the recording whenever it has changed; the last one while it is found. */
export function useFound<T>(
  find: (abort: AbortSignal) => Promise<T | undefined>,
): ReadonlySignal<T | undefined> {
  const found = useSignal<T | undefined>(undefined);
  useSignalEffect(() => {
    const controller = new AbortController();
    void find(controller.signal).then((value) => {
      if (value !== undefined && !controller.signal.aborted) found.value = value;
    });
    return () => controller.abort();
  });
  return found;
}

const REST_MS = 150;
const GROWTH_MS = 1000;
