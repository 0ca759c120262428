// The display options of the diagram in the address of the page.

import { choiceInAddress, together } from "../state/choice";
import type { Store } from "../state/store";
import type { AddressPart } from "../state/url";
import { sequenceState } from "./state";

export function sequenceAddress(store: Store): AddressPart {
  const { down, folding, grouping, merging, order, reference, timeStyle } = sequenceState(store);
  return together([
    choiceInAddress("down", down, ["order", "time"]),
    choiceInAddress("columns", grouping, ["connection", "process"]),
    choiceInAddress("order", order, ["compact", "appearance", "traffic"]),
    choiceInAddress("times", timeStyle, ["start", "wall", "delta"]),
    {
      write(fields) {
        if (reference.value !== undefined) fields.set("reference", String(reference.value));
      },
      read(fields) {
        const message = Number(fields.get("reference"));
        reference.value = Number.isInteger(message) && message > 0 ? message : undefined;
      },
    },
    {
      write(fields) {
        if (folding.value.folds === "nothing") fields.set("fold", "nothing");
      },
      read(fields) {
        const folds = fields.get("fold") === "nothing" ? "nothing" : "runs";
        if (folding.peek().folds !== folds) folding.value = { folds, unfolded: new Set() };
      },
    },
    {
      write(fields) {
        if (merging.value.merges === "nothing") fields.set("merge", "nothing");
      },
      read(fields) {
        const merges = fields.get("merge") === "nothing" ? "nothing" : "programs";
        if (merging.peek().merges !== merges) merging.value = { merges, expanded: new Set() };
      },
    },
  ]);
}
