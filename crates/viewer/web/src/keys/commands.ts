// What can be done on the page, found by its words. No DOM.

import type { KeyBinding, KeyPart } from "./keys";

/** Something that can be done. */
export interface Command {
  readonly part: string;
  readonly about: string;
  readonly keys: readonly string[];
  readonly run: KeyBinding["run"];
}

/** What can be done now and has all of these words, in the order of the parts. */
export function commandsWith(parts: readonly KeyPart[], text: string): readonly Command[] {
  const words = text.toLowerCase().split(/\s+/);
  const all = parts.flatMap(({ name, bindings }) =>
    bindings
      .filter(({ when }) => when?.() ?? true)
      .map(({ about, keys, run }) => ({ part: name, about, keys, run })),
  );
  return all.filter(({ part, about }) => {
    const told = `${part} ${about}`.toLowerCase();
    return words.every((word) => told.includes(word));
  });
}

/** The number of the message that a text asks for, from 1. */
export function messageNumber(text: string): number | undefined {
  const digits = /^\s*#?([\d,. ]+)$/.exec(text)?.[1]?.replace(/\D/g, "") ?? "";
  return digits === "" || Number(digits) === 0 ? undefined : Number(digits);
}
