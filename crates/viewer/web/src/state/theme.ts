// The light and the dark theme.

import { effect } from "@preact/signals";
import { colorsOf } from "../parts/colors";
import type { PageState } from "./page";

/** The themes; `system` follows the desktop. */
export const THEMES = ["system", "light", "dark"] as const;
export type ThemeChoice = (typeof THEMES)[number];

/** The theme after this one. */
export function nextTheme(from: ThemeChoice): ThemeChoice {
  return THEMES[(THEMES.indexOf(from) + 1) % THEMES.length] ?? "system";
}

/** Applies the theme to the document and to the canvases. */
export function followTheme(page: PageState, root: HTMLElement): void {
  const system = matchMedia("(prefers-color-scheme: dark)");
  const look = (): void => {
    page.isSystemDark.value = system.matches;
  };
  system.addEventListener("change", look);
  look();
  effect(() => {
    root.dataset.theme = page.isDark.value ? "dark" : "light";
    page.colors.value = colorsOf(root);
  });
}
