// What of the page is open, chosen and remembered, apart from what it shows of the recording.

import { computed, signal } from "@preact/signals";
import type { KeyPart } from "../keys/keys";
import { type Colours, NO_COLOURS } from "../parts/colours";
import type { OpenMenu } from "../parts/openMenu";
import { numberOf, oneOf, remembered, textsOf } from "./storage";
import { THEMES, type ThemeChoice } from "./theme";

export class PageState {
  /** The one menu that is open. */
  readonly menu = signal<OpenMenu | undefined>(undefined);
  /** The keys of the parts that are shown, in the order in which these appeared. */
  readonly keyParts = signal<readonly KeyPart[]>([]);
  readonly isKeySheetOpen = signal(false);
  readonly isPaletteOpen = signal(false);
  readonly isFindOpen = signal(false);
  readonly isLegendOpen = signal(false);
  /** Whether the services lie over the view; it has no effect where they have room beside the view. */
  readonly isServicesOpen = signal(false);
  /** Why messages were not saved; empty once others are. */
  readonly saveProblem = signal("");

  readonly theme = remembered<ThemeChoice>("theme", "system", oneOf(THEMES));
  /** Whether the desktop is dark. */
  readonly isSystemDark = signal(false);
  readonly isDark = computed(() => {
    const theme = this.theme.value;
    return theme === "system" ? this.isSystemDark.value : theme === "dark";
  });
  /** The colors of the style sheet in the current theme, for what is painted. */
  readonly colours = signal<Colours>(NO_COLOURS);

  /** Queries that were used, the last one first. */
  readonly usedQueries = remembered<readonly string[]>("queries", [], textsOf);
  /** Queries that are saved until they are removed. */
  readonly savedQueries = remembered<readonly string[]>("saved-queries", [], textsOf);
  readonly isDetailsOpen = remembered("details-open", true, (kept) =>
    typeof kept === "boolean" ? kept : undefined,
  );
  /** The chosen width of the details, in pixels. */
  readonly detailsWidth = remembered<number | null>("details-width", null, numberOf);
  /** The titles of folded sections of the details. */
  readonly foldedDetails = remembered<readonly string[]>("details-folded", [], textsOf);
  /** The program whose command is shown in the details. */
  readonly copyAs = remembered("copy-as", "busctl", (kept) =>
    typeof kept === "string" ? kept : undefined,
  );
}
