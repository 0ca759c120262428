// Keys of the objects view.

import type { KeyBinding, KeyNote } from "../keys/keys";
import type { ObjectTab, Session } from "./session";

/** The keys and actions of the objects view. */
export function objectsKeys(session: Session): readonly KeyBinding[] {
  const show = (tab: ObjectTab, words: string): KeyBinding => ({
    keys: [],
    about: `Show the ${tab}`,
    words,
    run: () => {
      session.tab.value = tab;
    },
  });
  return [
    { keys: ["n"], about: "Go to the names", words: "service", run: () => focus(".objects-names") },
    { keys: ["o"], about: "Go to the objects", words: "path", run: () => focus(".objects-tree") },
    {
      keys: ["r"],
      about: "Refresh names, objects and values",
      words: "reload ask again",
      run: () => {
        void session.refreshNames().then(() => session.refreshTree());
        void session.refreshObject();
      },
    },
    show("members", "methods properties interfaces"),
    show("signals", "log watch"),
    show("calls", "history of calls made here"),
  ];
}

/** Keys of lists and forms, which work while these have the focus. */
export const OBJECTS_NOTES: readonly KeyNote[] = [
  { keys: ["ArrowDown"], about: "Next name or object" },
  { keys: ["ArrowUp"], about: "Previous name or object" },
  { keys: ["ArrowRight", "ArrowLeft"], about: "Expand or collapse an object" },
  { keys: ["Enter"], about: "Open the object; in a form: call or set" },
  { keys: ["Shift+Enter"], about: "New line in a text" },
];

/** Focuses the filter of a pane. */
function focus(pane: string): void {
  document.querySelector<HTMLElement>(`${pane} input[type=search]`)?.focus();
}
