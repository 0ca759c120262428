// Keys of the page: what is pressed, and what it does.

import type { PageState } from "../state/page";

/** An action of the page. The sheet of keys and the palette name it. */
export interface KeyBinding {
  /** Any of them runs it: `g`, `Shift+G`, `ArrowUp`, `Ctrl+Shift+P`, `?`. Without one, only the palette has it. */
  readonly keys: readonly string[];
  /** What it does, in the imperative: `Zoom in`. */
  readonly about: string;
  /** Other words by which people search for it: `export download`. */
  readonly words?: string;
  /** Whether it can run now; always if it is absent. */
  readonly when?: () => boolean;
  readonly run: (event: KeyboardEvent) => void;
}

/** Keys that an element handles itself while it has the focus. Only the sheet of keys names them. */
export type KeyNote = Pick<KeyBinding, "keys" | "about">;

/** The actions and keys of one part of the page. */
export interface KeyPart {
  readonly name: string;
  readonly bindings: readonly KeyBinding[];
  readonly notes: readonly KeyNote[];
}

/** Adds the keys of a part; returns a function that removes them. The part added last comes first. */
export function registerKeys(
  { keyParts }: PageState,
  name: string,
  bindings: readonly KeyBinding[],
  notes: readonly KeyNote[] = [],
): () => void {
  const part: KeyPart = { name, bindings, notes };
  keyParts.value = [...keyParts.peek(), part];
  return () => {
    keyParts.value = keyParts.peek().filter((other) => other !== part);
  };
}

/** A key with those that are held down with it. */
export interface Chord {
  readonly key: string;
  readonly ctrl: boolean;
  readonly alt: boolean;
  readonly shift: boolean;
}

/** What `Ctrl+Shift+P` means. */
export function parseChord(text: string): Chord {
  // The key may be a plus itself.
  const parts = text.replace(/\+\+$/, "+Plus").split("+");
  const key = text === "+" ? "+" : (parts.at(-1) ?? "").replace("Plus", "+");
  const held = (name: string): boolean => text !== "+" && parts.slice(0, -1).includes(name);
  return { key, ctrl: held("Ctrl"), alt: held("Alt"), shift: held("Shift") };
}

/** What of an event of a key is looked at. */
export type Pressed = Pick<KeyboardEvent, "key" | "ctrlKey" | "metaKey" | "altKey" | "shiftKey">;

/** Whether this is what was pressed. */
export function isPressed(chord: Chord, event: Pressed): boolean {
  if (chord.ctrl !== (event.ctrlKey || event.metaKey) || chord.alt !== event.altKey) return false;
  if (chord.key.toLowerCase() !== event.key.toLowerCase()) return false;
  // Where signs are on a keyboard, and whether they need Shift, is its own affair.
  const isSign = event.key.length === 1 && event.key.toLowerCase() === event.key.toUpperCase();
  return isSign || chord.shift === event.shiftKey;
}

/** What the keys that are pressed do, if anything. */
export function bindingFor(parts: readonly KeyPart[], event: Pressed): KeyBinding | undefined {
  for (const part of parts.toReversed()) {
    const found = part.bindings.find(
      ({ keys, when }) =>
        keys.some((key) => isPressed(parseChord(key), event)) && (when?.() ?? true),
    );
    if (found !== undefined) return found;
  }
  return undefined;
}

/** What the sheet of keys shows: parts of one name together, without actions that have no key. */
export function sheetOf(parts: readonly KeyPart[]): readonly [name: string, keys: KeyNote[]][] {
  const sheet = new Map<string, KeyNote[]>();
  for (const { name, bindings, notes } of parts) {
    const known = sheet.get(name) ?? [];
    const isNew = ({ keys, about }: KeyNote): boolean =>
      keys.length > 0 && !known.some((other) => other.about === about);
    sheet.set(name, [...known, ...[...bindings, ...notes].filter(isNew)]);
  }
  return [...sheet].filter(([, keys]) => keys.length > 0);
}

/** How a key is called on the sheet: `Ctrl+Shift+P`, `↑`. */
export function keyName(text: string): string {
  const chord = parseChord(text);
  const held = [chord.ctrl && "Ctrl", chord.alt && "Alt", chord.shift && "Shift"];
  const name = NAMES[chord.key] ?? chord.key;
  return [...held.filter((word) => word !== false), name].join("+");
}

const NAMES: Readonly<Record<string, string>> = {
  ArrowUp: "↑",
  ArrowDown: "↓",
  ArrowLeft: "←",
  ArrowRight: "→",
  Escape: "Esc",
  " ": "Space",
  PageUp: "Page Up",
  PageDown: "Page Down",
};
