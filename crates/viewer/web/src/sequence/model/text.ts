// Texts that fit. What is cut off is the beginning: the last words of names tell them apart.

import { partitionPoint } from "../../model/search";
import { oneLine } from "../../parts/visibleText";

/** How wide a text is. */
export type TextMeasure = (text: string) => number;

/** Stands for what is cut off. */
export const ELLIPSIS = "…";

/** Longer texts are never drawn whole. */
const LENGTH_MAX = 240;

/** A text of a message as it can be drawn: of one line, from left to right, with an end. */
export function drawable(text: string): string {
  const end = text.length > LENGTH_MAX ? ELLIPSIS + text.slice(-LENGTH_MAX) : text;
  return oneLine(end);
}

/** The end of a drawable text that fits, from the beginning of a word if much is left of it. */
export function fitting(measure: TextMeasure, text: string, width: number): string {
  if (measure(text) <= width) return text;
  const isTooLong = (start: number): boolean => measure(ELLIPSIS + text.slice(start)) > width;
  const start = Math.max(1, partitionPoint(text.length, isTooLong));
  if (start >= text.length) return width > 0 ? ELLIPSIS : "";
  return ELLIPSIS + text.slice(wordStart(text, start));
}

/** The next beginning of a word, if not too much of what is left is lost by that. */
function wordStart(text: string, start: number): number {
  const next = text.slice(start).search(/[./]/);
  if (next < 0 || next >= (text.length - start) * LOST_MAX) return start;
  return start + next + (text[start + next] === "." ? 1 : 0);
}

const LOST_MAX = 0.7;
