// Keys of the two synchronized diagrams.

import type { KeyBinding } from "../keys/keys";
import { diagramKeys, key } from "../sequence/sequenceKeys";
import type { SequenceState } from "../sequence/state";
import type { Linked } from "./Linked";

/** The keys and actions while both diagrams are shown. */
export function compareKeys(linked: Linked, state: SequenceState): readonly KeyBinding[] {
  return [
    key(["j", "ArrowDown"], "Next message, on either side", () => linked.step(1)),
    key(["k", "ArrowUp"], "Previous message, on either side", () => linked.step(-1)),
    key(["ArrowLeft"], "Go to the counterpart in the recording before", () => linked.cross(0)),
    key(["ArrowRight"], "Go to the counterpart in the recording after", () => linked.cross(1)),
    key(["x"], "Next difference: slower, or only on one side", () => linked.stepDifferent(1)),
    key(["Shift+X"], "Previous difference", () => linked.stepDifferent(-1)),
    ...diagramKeys(() => linked.active(), state),
  ];
}
