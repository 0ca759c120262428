// Keys of the details panel, which lead from a message to related messages.

import type { KeyBinding } from "../keys/keys";
import { NONE } from "../model/recording";
import type { Store } from "../state/store";
import { neighbor } from "./siblings";

/** The keys and actions for the selected message. */
export function detailsKeys(store: Store, toggle: () => void): readonly KeyBinding[] {
  const when = (): boolean => store.selected.peek() !== undefined;
  return [
    {
      keys: ["i"],
      about: "Show or hide the details panel",
      run: toggle,
    },
    {
      keys: ["p"],
      about: "Go from a call to its reply, and back",
      when,
      run: () => goToPartner(store),
    },
    {
      keys: ["]"],
      about: "Next call of this method, or signal of this name",
      when,
      run: () => goToNeighbor(store, 1),
    },
    {
      keys: ["["],
      about: "Previous call of this method, or signal of this name",
      when,
      run: () => goToNeighbor(store, -1),
    },
  ];
}

function goToPartner(store: Store): void {
  const row = store.selected.peek() ?? NONE;
  const recording = store.recording.peek();
  const partner = row < recording.length ? recording.partnerOf(row) : NONE;
  if (partner !== NONE) store.selectMessage(partner);
}

function goToNeighbor(store: Store, step: 1 | -1): void {
  const row = store.selected.peek() ?? NONE;
  const recording = store.recording.peek();
  if (row >= recording.length) return;
  const next = neighbor(recording, recording.subjectOf(row), step);
  if (next !== undefined) store.selectMessage(next);
}
