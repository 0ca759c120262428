// Keys of two diagrams beside each other.

import type { KeyBinding } from "../keys/keys";
import { diagramKeys, key } from "../sequence/sequenceKeys";
import type { SequenceState } from "../sequence/state";
import type { Linked } from "./Linked";

/** What keys do while both diagrams are shown. */
export function compareKeys(linked: Linked, state: SequenceState): readonly KeyBinding[] {
  return [
    key(["j", "ArrowDown"], "to the message below, on either side", () => linked.step(1)),
    key(["k", "ArrowUp"], "to the message above, on either side", () => linked.step(-1)),
    key(["ArrowLeft"], "to its counterpart before", () => linked.cross(0)),
    key(["ArrowRight"], "to its counterpart after", () => linked.cross(1)),
    key(["x"], "to the next message that is slower, or only on one side", () =>
      linked.stepDifferent(1),
    ),
    key(["Shift+X"], "to the one before", () => linked.stepDifferent(-1)),
    ...diagramKeys(() => linked.active(), state),
  ];
}
