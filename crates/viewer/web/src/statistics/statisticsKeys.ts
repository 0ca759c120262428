// Keys of the statistics view.

import type { KeyBinding } from "../keys/keys";
import { type StatisticsState, TABS } from "./state";

/** The keys and actions of the statistics view. */
export function statisticsKeys(state: StatisticsState): readonly KeyBinding[] {
  return [
    {
      keys: ["j", "ArrowDown"],
      about: "Go to the table, next row",
      run: () => pressInTable("ArrowDown"),
    },
    {
      keys: ["k", "ArrowUp"],
      about: "Go to the table, previous row",
      run: () => pressInTable("ArrowUp"),
    },
    { keys: ["Shift+ArrowRight"], about: "Next tab", run: () => stepTab(state, 1) },
    { keys: ["Shift+ArrowLeft"], about: "Previous tab", run: () => stepTab(state, -1) },
  ];
}

/** Selects the tab `by` positions after the current one, wrapping around at the ends. */
function stepTab(state: StatisticsState, by: number): void {
  const place = (TABS.indexOf(state.tab.peek()) + by + TABS.length) % TABS.length;
  state.chooseTab(TABS[place] ?? TABS[0]);
}

/** Focuses the first table and presses a key in it. */
function pressInTable(key: string): void {
  const table = document.querySelector<HTMLElement>("main [role=grid]");
  if (table === null) return;
  table.focus();
  // The event does not bubble, because keys that the table ignores would return to this function.
  table.dispatchEvent(new KeyboardEvent("keydown", { key, cancelable: true }));
}
