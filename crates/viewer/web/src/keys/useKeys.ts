// Registration of a component's keys while it is mounted.

import { useLayoutEffect } from "preact/hooks";
import { useStore } from "../state/context";
import type { PageState } from "../state/page";
import { bindingFor, type KeyBinding, type KeyNote, registerKeys } from "./keys";

/** Registers keys while the component is mounted. The overview of shortcuts also lists `notes`. */
export function useKeys(
  name: string,
  bindings: () => readonly KeyBinding[],
  notes?: readonly KeyNote[],
): void {
  const { page } = useStore();
  useLayoutEffect(() => registerKeys(page, name, bindings(), notes), []);
}

/**
 * Dispatches key events to the registered bindings, except in text inputs and dialogs and for
 * events that were already handled. Returns a function that stops the dispatch.
 */
export function listenForKeys({ keyParts }: PageState): () => void {
  const press = (event: KeyboardEvent): void => {
    if (event.defaultPrevented || event.isComposing || isTaken(event)) return;
    const binding = bindingFor(keyParts.peek(), event);
    if (binding === undefined) return;
    event.preventDefault();
    binding.run(event);
  };
  addEventListener("keydown", press);
  return () => removeEventListener("keydown", press);
}

function isTaken(event: KeyboardEvent): boolean {
  const target = event.target;
  if (!(target instanceof Element)) return false;
  if (target.closest("input, textarea, select, [contenteditable], dialog") !== null) return true;
  const isPress = event.key === "Enter" || event.key === " ";
  return isPress && target.closest("button, a, summary, [role=option], [role=menuitem]") !== null;
}
