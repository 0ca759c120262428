// Shortens texts to a width. It removes the beginning, because the last words of names distinguish
// them.

import { partitionPoint } from "../../model/search";
import { oneLine } from "../../parts/visibleText";

/** Returns the width of a text. */
export type TextMeasure = (text: string) => number;

/** Replaces the removed part. */
export const ELLIPSIS = "…";

/** Longer texts are never drawn completely. */
const LENGTH_MAX = 240;

/** Converts a text of a message to one line from left to right, of limited length. */
export function drawable(text: string): string {
  const end = text.length > LENGTH_MAX ? ELLIPSIS + text.slice(-LENGTH_MAX) : text;
  return oneLine(end);
}

/** The end of a drawable text that fits. It starts at the beginning of a word if enough remains. */
export function fitting(measure: TextMeasure, text: string, width: number): string {
  if (measure(text) <= width) return text;
  const isTooLong = (start: number): boolean => measure(ELLIPSIS + text.slice(start)) > width;
  const start = Math.max(1, partitionPoint(text.length, isTooLong));
  if (start >= text.length) return width > 0 ? ELLIPSIS : "";
  return ELLIPSIS + text.slice(wordStart(text, start));
}

/** The next beginning of a word, if not too much is lost. */
function wordStart(text: string, start: number): number {
  const next = text.slice(start).search(/[./]/);
  if (next < 0 || next >= (text.length - start) * LOST_MAX) return start;
  return start + next + (text[start + next] === "." ? 1 : 0);
}

const LOST_MAX = 0.7;
