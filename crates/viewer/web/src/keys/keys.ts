// Keyboard shortcuts: which keys are pressed, and which action they run.

import type { PageState } from "../state/page";

/** An action of the page, which the overview of shortcuts and the command palette list. */
export interface KeyBinding {
  /**
   * Each of these keys runs the action: `g`, `Shift+G`, `ArrowUp`, `Ctrl+Shift+P`, `?`. An action
   * without keys is available only in the palette.
   */
  readonly keys: readonly string[];
  /** The action in the imperative: `Zoom in`. */
  readonly about: string;
  /** More words by which the palette finds the action: `export download`. */
  readonly words?: string;
  /** Returns true if the action can run now. An action without this function can always run. */
  readonly when?: () => boolean;
  readonly run: (event: KeyboardEvent) => void;
}

/** Keys that a focused element handles itself. Only the overview of shortcuts lists them. */
export type KeyNote = Pick<KeyBinding, "keys" | "about">;

/** The actions and keys of one part of the page. */
export interface KeyPart {
  readonly name: string;
  readonly bindings: readonly KeyBinding[];
  readonly notes: readonly KeyNote[];
}

/**
 * Registers the keys of a part, and returns a function that removes them. The part that was
 * registered last has priority.
 */
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

/** A key with its modifiers. */
export interface Chord {
  readonly key: string;
  readonly ctrl: boolean;
  readonly alt: boolean;
  readonly shift: boolean;
}

/** Parses a chord such as `Ctrl+Shift+P`. */
export function parseChord(text: string): Chord {
  // The key itself can be a plus sign.
  const parts = text.replace(/\+\+$/, "+Plus").split("+");
  const key = text === "+" ? "+" : (parts.at(-1) ?? "").replace("Plus", "+");
  const held = (name: string): boolean => text !== "+" && parts.slice(0, -1).includes(name);
  return { key, ctrl: held("Ctrl"), alt: held("Alt"), shift: held("Shift") };
}

/** The properties of a key event that determine its chord. */
export type Pressed = Pick<KeyboardEvent, "key" | "ctrlKey" | "metaKey" | "altKey" | "shiftKey">;

/** True if an event matches a chord. */
export function isPressed(chord: Chord, event: Pressed): boolean {
  if (chord.ctrl !== (event.ctrlKey || event.metaKey) || chord.alt !== event.altKey) return false;
  if (chord.key.toLowerCase() !== event.key.toLowerCase()) return false;
  // Keyboard layouts differ in whether a sign needs Shift, so Shift is ignored for signs.
  const isSign = event.key.length === 1 && event.key.toLowerCase() === event.key.toUpperCase();
  return isSign || chord.shift === event.shiftKey;
}

/** The binding that a key event runs, if there is one. */
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

/**
 * The sections of the overview: parts with the same name are merged, and actions without a key are
 * left out.
 */
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

/** The name of a chord for display: `Ctrl+Shift+P`, `↑`. */
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
