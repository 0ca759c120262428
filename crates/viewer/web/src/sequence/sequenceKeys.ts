// Keyboard shortcuts of the sequence diagram. The details own the shortcuts for other messages of a
// method.

import type { KeyBinding } from "../keys/keys";
import type { Store } from "../state/store";
import type { Diagram } from "./Diagram";
import type { Interaction } from "./Interaction";
import { toggleLegend } from "./Legend";
import type { NavigationStep } from "./model/navigate";
import {
  nextTimeStyle,
  type SequenceState,
  toggleDown,
  toggleFolding,
  toggleMerging,
} from "./state";

/** The shortcuts while the diagram is displayed. */
export function sequenceKeys(
  interaction: Interaction,
  state: SequenceState,
  store: Store,
): readonly KeyBinding[] {
  const step = (keys: readonly string[], about: string, to: NavigationStep): KeyBinding =>
    key(keys, about, () => interaction.step(to));
  return [
    step(["j", "ArrowDown"], "Next message", "next"),
    step(["k", "ArrowUp"], "Previous message", "previous"),
    key(["ArrowRight"], "Unfold the repeated messages", () => interaction.fold("unfold")),
    key(["ArrowLeft"], "Fold the repeated messages", () => interaction.fold("fold")),
    key(["e"], "Expand or merge the columns of the selected message", () =>
      interaction.toggleGroups(),
    ),
    key(["Shift+E"], "Merge or separate short-lived connections of one program", () =>
      toggleMerging(state),
    ),
    key(["z"], "Fold or unfold repeated messages", () => toggleFolding(state)),
    ...diagramKeys(() => interaction, state),
    {
      ...key(["m"], "Count times from the selected message, or from the start", () =>
        interaction.toggleReference(),
      ),
      words: "time reference relative mark",
    },
    key(["l"], "Show or hide the legend", () => toggleLegend(store.page)),
    {
      ...key(["Escape"], "Close the legend", () => toggleLegend(store.page)),
      when: () => store.page.isLegendOpen.peek(),
    },
    {
      ...key([" "], "Pause or resume the live view", () => store.togglePause()),
      when: () => store.isLive.peek(),
    },
  ];
}

/** The shortcuts of any diagram: they act on the active one, if there are several. */
export function diagramKeys(active: () => Interaction, state: SequenceState): KeyBinding[] {
  const step = (keys: readonly string[], about: string, to: NavigationStep): KeyBinding =>
    key(keys, about, () => active().step(to));
  const isTime = (): boolean => state.down.peek() === "time";
  const diagram = (): Diagram => active().diagram;
  return [
    step(["Enter"], "Go from a call to its reply, and back", "partner"),
    step(["n"], "Next visible message of this member", "next-like"),
    step(["Shift+N"], "Previous visible message of this member", "previous-like"),
    key(["f"], "Center the selected message", () => active().focus()),
    key(["o"], "Vertical axis: in order, or to scale with time", () => toggleDown(state)),
    key(["c"], "Time format: since start, time of day, since last", () => nextTimeStyle(state)),
    { ...key(["w"], "Zoom in", () => active().zoom(ZOOM)), when: isTime },
    { ...key(["s"], "Zoom out", () => active().zoom(1 / ZOOM)), when: isTime },
    key(["a"], "Scroll up", () => diagram().pan(-PAN_LINES)),
    key(["d"], "Scroll down", () => diagram().pan(PAN_LINES)),
    key(["Shift+ArrowRight"], "Scroll right", () => diagram().panColumns(1)),
    key(["Shift+ArrowLeft"], "Scroll left", () => diagram().panColumns(-1)),
    key(["g"], "Scroll to the peer of the selected message that is out of view", () =>
      active().showFarEnd(),
    ),
    key(["Home"], "Go to the beginning", () => diagram().viewport.moveTo(0)),
    key(["End"], "Go to the end", () => diagram().viewport.moveToEnd()),
    key(["ContextMenu", "Shift+F10"], "Open the context menu", (event) => active().openMenu(event)),
  ];
}

/** A shortcut that is active whenever its part of the page is displayed. */
export function key(keys: readonly string[], about: string, run: KeyBinding["run"]): KeyBinding {
  return { keys, about, run };
}

const ZOOM = 1.5;
const PAN_LINES = 6;
