// What can be done on the page, found by its words. No DOM.

import type { KeyBinding, KeyPart } from "./keys";

/** Something that can be done. */
export interface Command {
  readonly part: string;
  readonly about: string;
  readonly keys: readonly string[];
  readonly run: KeyBinding["run"];
}

/**
 * The actions that can run now and have all of these words; first those that are called so, the shortest
 * first, then those of which only a part or another word is.
 */
export function commandsWith(parts: readonly KeyPart[], text: string): readonly Command[] {
  const wanted = text.toLowerCase().split(/\s+/);
  const has = (told: string): boolean => wanted.every((word) => told.toLowerCase().includes(word));
  const all = parts.flatMap(({ name, bindings }) =>
    bindings
      .filter(({ when }) => when?.() ?? true)
      .map(({ about, words = "", keys, run }) => ({ part: name, about, words, keys, run })),
  );
  const found = all.filter(({ part, about, words }) => has(`${part} ${about} ${words}`));
  const isNamed = ({ about }: Command): boolean => has(about);
  const named = found.filter(isNamed);
  if (text.trim() !== "") named.sort((one, other) => one.about.length - other.about.length);
  return [...named, ...found.filter((one) => !isNamed(one))];
}

/** The number of the message that a text asks for, from 1. */
export function messageNumber(text: string): number | undefined {
  const digits = /^\s*#?([\d,. ]+)$/.exec(text)?.[1]?.replace(/\D/g, "") ?? "";
  return digits === "" || Number(digits) === 0 ? undefined : Number(digits);
}
