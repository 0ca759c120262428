// The colours of the theme, for what is painted.

import { signal } from "@preact/signals";

/** The names of colours, and what they are called in the style sheet. */
const NAMES = {
  paper: "--paper",
  ground: "--ground",
  raised: "--raised",
  line: "--line",
  ink: "--ink",
  soft: "--soft",
  faint: "--faint",
  accent: "--accent",
  accentSoft: "--accent-soft",
  marked: "--marked",
  call: "--call",
  return: "--return",
  error: "--error",
  signal: "--signal",
  bus: "--bus",
  waiting: "--waiting",
  slow: "--slow",
  verySlow: "--very-slow",
  good: "--good",
} as const;

export type Colours = Readonly<Record<keyof typeof NAMES, string>>;

/** The colours as they are now; others when the theme has become another one. */
export const colours = signal<Colours>(coloursBy(() => "transparent"));

/** Takes the colours that the style sheet has for this element now. */
export function readColours(element: Element): void {
  const style = getComputedStyle(element);
  colours.value = coloursBy((name) => style.getPropertyValue(name).trim());
}

function coloursBy(read: (name: string) => string): Colours {
  return Object.fromEntries(
    Object.entries(NAMES).map(([name, property]) => [name, read(property)]),
  ) as Colours;
}
