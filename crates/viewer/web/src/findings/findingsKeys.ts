// Keys of the findings view.

import type { Finding } from "../generated/protocol";
import type { KeyBinding } from "../keys/keys";
import type { Store } from "../state/store";
import type { Reporter } from "./report";
import { showMessages } from "./showMessages";

/** The keys and actions of the findings view. */
export function findingsKeys(store: Store, reporter: Reporter): readonly KeyBinding[] {
  const isThere = (): boolean => reporter.opened.peek() !== undefined;
  const step = (by: number): void => {
    reporter.open.value = neighbor(reporter.shown.peek(), reporter.opened.peek(), by);
  };
  return [
    { keys: ["j", "ArrowDown"], about: "Next finding", when: isThere, run: () => step(1) },
    { keys: ["k", "ArrowUp"], about: "Previous finding", when: isThere, run: () => step(-1) },
    {
      keys: ["Enter"],
      about: "Show the messages of the finding in the sequence",
      when: isThere,
      run: () => {
        const finding = reporter.opened.peek();
        if (finding !== undefined) showMessages(store, finding);
      },
    },
  ];
}

/** The finding `by` positions after this one, or the first or last one at the ends. */
export function neighbor(
  shown: readonly Finding[],
  from: Finding | undefined,
  by: number,
): Finding | undefined {
  const place = (from === undefined ? -1 : shown.indexOf(from)) + by;
  return shown[Math.min(Math.max(place, 0), shown.length - 1)];
}
