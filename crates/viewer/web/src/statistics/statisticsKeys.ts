// Keys of the statistics.

import type { KeyBinding } from "../keys/keys";
import { type StatisticsState, TABS } from "./state";

/** What keys do while the statistics are shown. */
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

/** Shows the tab so many places behind the one that is shown, around the ends. */
function stepTab(state: StatisticsState, by: number): void {
  const place = (TABS.indexOf(state.tab.peek()) + by + TABS.length) % TABS.length;
  state.chooseTab(TABS[place] ?? TABS[0]);
}

/** Moves the focus to the first table, and presses a key there. */
function pressInTable(key: string): void {
  const table = document.querySelector<HTMLElement>("main [role=grid]");
  if (table === null) return;
  table.focus();
  // It does not bubble: keys that the table does not take would come back here.
  table.dispatchEvent(new KeyboardEvent("keydown", { key, cancelable: true }));
}
