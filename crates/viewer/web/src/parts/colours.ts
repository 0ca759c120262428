// The colours of the theme, for what is painted.

import { type Signal, signal } from "@preact/signals";

const NAMES = [
  "paper",
  "ground",
  "raised",
  "line",
  "ink",
  "soft",
  "faint",
  "accent",
  "call",
  "return",
  "error",
  "signal",
  "bus",
  "waiting",
  "good",
] as const;

export type Colours = Readonly<Record<(typeof NAMES)[number], string>>;

let colours: Signal<Colours> | undefined;

/** The colours as they are now; told again when the theme becomes another one. */
export function themeColours(): Signal<Colours> {
  if (colours !== undefined) return colours;
  const found = signal(read());
  const again = (): void => {
    found.value = read();
  };
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", again);
  const observer = new MutationObserver(again);
  observer.observe(document.documentElement, { attributeFilter: ["data-theme"] });
  colours = found;
  return found;
}

function read(): Colours {
  const style = getComputedStyle(document.documentElement);
  const pairs = NAMES.map((name) => [name, style.getPropertyValue(`--${name}`).trim()]);
  return Object.fromEntries(pairs) as Colours;
}
