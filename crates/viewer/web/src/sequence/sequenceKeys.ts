// Keys of the sequence diagram. Those that lead to the other messages of a method are of the details.

import type { KeyBinding } from "../keys/keys";
import type { Store } from "../state/store";
import type { Diagram } from "./Diagram";
import type { Interaction } from "./Interaction";
import type { Step } from "./model/navigate";
import { nextTimeStyle, type SequenceState, toggleDown, toggleFolding, togglePause } from "./state";

/** What keys do while the diagram is shown. */
export function sequenceKeys(
  interaction: Interaction,
  state: SequenceState,
  store: Store,
): readonly KeyBinding[] {
  const step = (keys: readonly string[], about: string, to: Step): KeyBinding =>
    key(keys, about, () => interaction.step(to));
  return [
    step(["j", "ArrowDown"], "to the message below", "next"),
    step(["k", "ArrowUp"], "to the message above", "previous"),
    key(["ArrowRight"], "unfolds the run", () => interaction.fold("unfold")),
    key(["ArrowLeft"], "folds the run", () => interaction.fold("fold")),
    key(["z"], "folds runs of like messages, or does not", () => toggleFolding(state)),
    ...diagramKeys(() => interaction, state),
    {
      ...key([" "], "holds a running bus still, or lets it go on", () => togglePause(state, store)),
      when: () => store.isLive.peek(),
    },
  ];
}

/** What keys do with any diagram: the one that is active, if there are several. */
export function diagramKeys(active: () => Interaction, state: SequenceState): KeyBinding[] {
  const step = (keys: readonly string[], about: string, to: Step): KeyBinding =>
    key(keys, about, () => active().step(to));
  const isTime = (): boolean => state.down.peek() === "time";
  const diagram = (): Diagram => active().diagram;
  return [
    step(["Enter"], "from a call to its reply, and back", "partner"),
    step(["n"], "to the next message that is shown of this type and member", "next-like"),
    step(["Shift+N"], "to the one before", "previous-like"),
    key(["f"], "puts the selected message into the middle", () => active().focus()),
    key(["o"], "in order, or to scale with time", () => toggleDown(state)),
    key(["c"], "times since the start, of the day, since the last message", () =>
      nextTimeStyle(state),
    ),
    { ...key(["w"], "makes time larger", () => active().zoom(ZOOM)), when: isTime },
    { ...key(["s"], "makes time smaller", () => active().zoom(1 / ZOOM)), when: isTime },
    key(["a"], "moves up", () => diagram().pan(-PAN_LINES)),
    key(["d"], "moves down", () => diagram().pan(PAN_LINES)),
    key(["Shift+ArrowRight"], "to the columns further right", () => diagram().panColumns(1)),
    key(["Shift+ArrowLeft"], "to the columns further left", () => diagram().panColumns(-1)),
    key(["Home"], "to the beginning", () => diagram().viewport.moveTo(0)),
    key(["End"], "to the end", () => diagram().viewport.moveToEnd()),
    key(["ContextMenu", "Shift+F10"], "what can be done with the message", (event) =>
      active().openMenu(event),
    ),
  ];
}

/** A key that does something whenever the part is shown. */
export function key(keys: readonly string[], about: string, run: KeyBinding["run"]): KeyBinding {
  return { keys, about, run };
}

const ZOOM = 1.5;
const PAN_LINES = 6;
