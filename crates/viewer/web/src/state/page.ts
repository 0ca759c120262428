// The state of the page itself: open, selected and remembered elements.

import { computed, signal } from "@preact/signals";
import type { KeyPart } from "../keys/keys";
import { type Colors, NO_COLORS } from "../parts/colors";
import type { OpenMenu } from "../parts/openMenu";
import { numberOf, oneOf, remembered, textsOf } from "./storage";
import { THEMES, type ThemeChoice } from "./theme";

export class PageState {
  /** The open menu; there is at most one. */
  readonly menu = signal<OpenMenu | undefined>(undefined);
  /** The keyboard shortcuts of the displayed parts, in the order in which the parts appeared. */
  readonly keyParts = signal<readonly KeyPart[]>([]);
  readonly isKeySheetOpen = signal(false);
  readonly isPaletteOpen = signal(false);
  readonly isFindOpen = signal(false);
  readonly isLegendOpen = signal(false);
  /** True if the services cover the view. It has no effect if they fit beside the view. */
  readonly isServicesOpen = signal(false);
  /** The reason why messages were not saved; empty after the next success. */
  readonly saveProblem = signal("");

  readonly theme = remembered<ThemeChoice>("theme", "system", oneOf(THEMES));
  /** True if the desktop uses a dark theme. */
  readonly isSystemDark = signal(false);
  readonly isDark = computed(() => {
    const theme = this.theme.value;
    return theme === "system" ? this.isSystemDark.value : theme === "dark";
  });
  /** The colors of the style sheet in the current theme, for the canvases. */
  readonly colors = signal<Colors>(NO_COLORS);

  /** Recent queries, the last one first. */
  readonly usedQueries = remembered<readonly string[]>("queries", [], textsOf);
  /** Queries that are saved until they are removed. */
  readonly savedQueries = remembered<readonly string[]>("saved-queries", [], textsOf);
  readonly isDetailsOpen = remembered("details-open", true, (kept) =>
    typeof kept === "boolean" ? kept : undefined,
  );
  /** The selected width of the details, in pixels. */
  readonly detailsWidth = remembered<number | null>("details-width", null, numberOf);
  /** The titles of folded sections of the details. */
  readonly foldedDetails = remembered<readonly string[]>("details-folded", [], textsOf);
  /** The program whose command the details show. */
  readonly copyAs = remembered("copy-as", "busctl", (kept) =>
    typeof kept === "string" ? kept : undefined,
  );
}
