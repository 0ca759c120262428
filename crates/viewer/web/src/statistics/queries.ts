// Requests for statistics of the selected messages, sent when the selection is stable.

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

/** The table with this name for the selected messages. */
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
 * The selection after it has been stable for a moment, so that dragging a time range does not cause
 * requests. On a live bus it is renewed every second while messages arrive. Undefined until there
 * are messages.
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
 * The rows of the visible messages. On a live bus they are updated once per second instead of with
 * every batch of messages.
 */
export function restingRows(store: Store): Uint32Array {
  settledSelection(store).value;
  return (store.isLive.value ? store.visible.peek() : store.visible.value).rows;
}

/**
 * A value that is computed again whenever its inputs change. The previous value stays until then.
 */
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
