// Keys of the sequence diagram. Those that lead to the other messages of a method are of the details.

import type { KeyBinding } from "../keys/keys";
import type { Store } from "../state/store";
import type { Interaction } from "./Interaction";
import type { Step } from "./model/navigate";
import { nextTimeStyle, type SequenceState, toggleDown, toggleFolding, togglePause } from "./state";

/** What keys do while the diagram is shown. */
export function sequenceKeys(
  interaction: Interaction,
  state: SequenceState,
  store: Store,
): readonly KeyBinding[] {
  const { diagram } = interaction;
  const key = (keys: readonly string[], about: string, run: KeyBinding["run"]): KeyBinding => ({
    keys,
    about,
    run,
  });
  const step = (keys: readonly string[], about: string, to: Step): KeyBinding =>
    key(keys, about, () => interaction.step(to));
  const isTime = (): boolean => state.down.peek() === "time";
  return [
    step(["j", "ArrowDown"], "to the message below", "next"),
    step(["k", "ArrowUp"], "to the message above", "previous"),
    step(["Enter"], "from a call to its reply, and back", "partner"),
    step(["n"], "to the next message that is shown of this type and member", "next-like"),
    step(["Shift+N"], "to the one before", "previous-like"),
    key(["f"], "puts the selected message into the middle", () => interaction.focus()),
    key(["ArrowRight"], "unfolds the run", () => interaction.fold("unfold")),
    key(["ArrowLeft"], "folds the run", () => interaction.fold("fold")),
    key(["z"], "folds runs of like messages, or does not", () => toggleFolding(state)),
    key(["o"], "in order, or to scale with time", () => toggleDown(state)),
    key(["c"], "times since the start, of the day, since the last message", () =>
      nextTimeStyle(state),
    ),
    { ...key(["w"], "makes time larger", () => interaction.zoom(ZOOM)), when: isTime },
    { ...key(["s"], "makes time smaller", () => interaction.zoom(1 / ZOOM)), when: isTime },
    key(["a"], "moves up", () => diagram.pan(-PAN_LINES)),
    key(["d"], "moves down", () => diagram.pan(PAN_LINES)),
    key(["Shift+ArrowRight"], "to the columns further right", () => diagram.panColumns(1)),
    key(["Shift+ArrowLeft"], "to the columns further left", () => diagram.panColumns(-1)),
    key(["Home"], "to the beginning", () => diagram.viewport.moveTo(0)),
    key(["End"], "to the end", () => diagram.viewport.moveToEnd()),
    key(["ContextMenu", "Shift+F10"], "what can be done with the message", (event) =>
      interaction.openMenu(event),
    ),
    {
      ...key([" "], "holds a running bus still, or lets it go on", () => togglePause(state, store)),
      when: () => store.isLive.peek(),
    },
  ];
}

const ZOOM = 1.5;
const PAN_LINES = 6;
