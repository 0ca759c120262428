// Completion of queries: the requested position, and the insertion of a suggestion.

import type { Completion, Completions } from "../generated/protocol";
import { quoted } from "./terms";

/** A text with the position of the cursor. */
export interface Written {
  readonly text: string;
  /** The position in UTF-16 units, as in an input element. */
  readonly cursor: number;
}

/** The number of UTF-8 bytes before the cursor. */
export function bytesBefore({ text, cursor }: Written): number {
  return new TextEncoder().encode(text.slice(0, cursor)).length;
}

/** The position in a text after this many UTF-8 bytes. */
export function placeBehind(text: string, bytes: number): number {
  let left = bytes;
  let place = 0;
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0;
    left -= code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    if (left < 0) break;
    place += character.length;
  }
  return place;
}

/**
 * The text with a suggestion inserted. A value gets quotes if it needs them, and a space after it.
 */
export function accept(text: string, completions: Completions, offer: Completion): Written {
  const from = placeBehind(text, completions.from);
  const to = placeBehind(text, completions.to);
  const rest = text.slice(to);
  const isValue = /[:=~<>]$/.test(text.slice(0, from));
  const isField = !isValue && /[:=~<>]$/.test(offer.text);
  const written = isValue ? quoted(offer.text) : offer.text;
  const blank = isField || /^[\s)]/.test(rest) ? "" : " ";
  const before = text.slice(0, from) + written + blank;
  return { text: before + rest, cursor: before.length };
}

/** True if a suggestion adds something to the entered text. */
export function hasNews(text: string, completions: Completions): boolean {
  const { from, to, offers } = completions;
  const written = text.slice(placeBehind(text, from), placeBehind(text, to));
  return offers.some((offer) => offer.text !== written);
}
