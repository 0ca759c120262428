// The colours of the theme, for what is drawn.

import type { Role } from "./tracks";

const NAMES = [
  "paper",
  "ground",
  "raised",
  "line",
  "ink",
  "soft",
  "faint",
  "accent",
  "marked",
  "call",
  "error",
  "signal",
  "bus",
  "waiting",
  "good",
] as const;

export type Colours = Readonly<Record<(typeof NAMES)[number], string>>;

/** The colours as they are now. */
export function coloursOf(element: Element): Colours {
  const style = getComputedStyle(element);
  const entries = NAMES.map((name) => [name, style.getPropertyValue(`--${name}`).trim()]);
  return Object.fromEntries(entries) as Colours;
}

/** The colour of spans of a role. */
export function colourOf(colours: Colours, role: Role): string {
  const names = { bus: "bus", serves: "call", waits: "waiting", sends: "signal" } as const;
  return colours[names[role]];
}
