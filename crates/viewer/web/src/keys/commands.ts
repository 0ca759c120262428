// Search for the page's actions by words. Independent of the DOM.

import type { KeyBinding, KeyPart } from "./keys";

/** An action that the command palette offers. */
export interface Command {
  readonly part: string;
  readonly about: string;
  readonly keys: readonly string[];
  readonly run: KeyBinding["run"];
}

/**
 * The actions that can run now and match all words of the text. Actions with all words in their own
 * description come first, the shortest description first. Then follow actions that match through
 * their part of the page or their search words.
 */
export function commandsWith(parts: readonly KeyPart[], text: string): readonly Command[] {
  const searchWords = text.toLowerCase().split(/\s+/);
  const matches = (candidate: string): boolean =>
    searchWords.every((word) => candidate.toLowerCase().includes(word));
  const all = parts.flatMap(({ name, bindings }) =>
    bindings
      .filter(({ when }) => when?.() ?? true)
      .map(({ about, words = "", keys, run }) => ({ part: name, about, words, keys, run })),
  );
  const found = all.filter(({ part, about, words }) => matches(`${part} ${about} ${words}`));
  const isNamed = ({ about }: Command): boolean => matches(about);
  const named = found.filter(isNamed);
  if (text.trim() !== "") named.sort((one, other) => one.about.length - other.about.length);
  return [...named, ...found.filter((one) => !isNamed(one))];
}

/** The message number in a text such as `#1,234`, from 1. */
export function messageNumber(text: string): number | undefined {
  const digits = /^\s*#?([\d,. ]+)$/.exec(text)?.[1]?.replace(/\D/g, "") ?? "";
  return digits === "" || Number(digits) === 0 ? undefined : Number(digits);
}
