// Light or dark.

import { computed, effect, signal } from "@preact/signals";
import { readColours } from "../parts/colours";
import { oneOf, remembered } from "./remember";

/** What is chosen; `system` is what the desktop has. */
export const THEMES = ["system", "light", "dark"] as const;
export type Theme = (typeof THEMES)[number];

export const theme = remembered<Theme>("theme", "system", oneOf(THEMES));

const isSystemDark = signal(false);

/** What is seen. */
const isDark = computed(() =>
  theme.value === "system" ? isSystemDark.value : theme.value === "dark",
);

/** The theme after this one. */
export function nextTheme(from: Theme): Theme {
  return THEMES[(THEMES.indexOf(from) + 1) % THEMES.length] ?? "system";
}

/** Has the document follow the theme, and what is painted. */
export function followTheme(root: HTMLElement): void {
  const system = matchMedia("(prefers-color-scheme: dark)");
  const look = (): void => {
    isSystemDark.value = system.matches;
  };
  system.addEventListener("change", look);
  look();
  effect(() => {
    root.dataset.theme = isDark.value ? "dark" : "light";
    readColours(root);
  });
}
