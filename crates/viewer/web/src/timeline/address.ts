// What is arranged on the timeline, in the address of the page.

import type { Store } from "../state/store";
import { type AddressPart, formatSpan, parseSpan } from "../state/url";
import { arrangedOn } from "./arrangement";

/**
 * Pins and marks, of each as many as there are. Which tracks are collapsed is not in it: all may be, and
 * of a large bus the address would be too long to be sent.
 */
export function timelineAddress(store: Store): AddressPart {
  const { pinned, marked } = arrangedOn(store);
  return {
    write(fields) {
      for (const key of pinned.value) fields.append("pin", key);
      for (const span of marked.value) fields.append("mark", formatSpan(span));
    },
    read(fields) {
      pinned.value = new Set(fields.getAll("pin"));
      const spans = fields.getAll("mark").map(parseSpan);
      marked.value = spans.filter((span) => span !== undefined);
    },
  };
}
