// Keys and actions that are available in every view.

import { batch } from "@preact/signals";
import { toggleKeySheet } from "../keys/KeySheet";
import type { KeyBinding } from "../keys/keys";
import { openPalette } from "../keys/Palette";
import { copyText } from "../parts/copy";
import type { Store } from "../state/store";
import { nextTheme, THEMES } from "../state/theme";
import { link } from "../state/url";
import { VIEWS } from "../state/views";
import { saveBindings } from "./saveActions";

/** The keys and actions that are available in every view. */
export function pageKeys(store: Store): readonly KeyBinding[] {
  const { theme } = store.page;
  return [
    ...viewKeys(store),
    {
      keys: ["t"],
      about: "Theme: light, dark, or system",
      words: "switch color mode appearance night",
      run: () => {
        theme.value = nextTheme(theme.peek());
      },
    },
    {
      keys: ["?"],
      about: "Show keyboard shortcuts",
      words: "help keys",
      run: () => toggleKeySheet(store.page),
    },
    {
      keys: [":", "Ctrl+Shift+P"],
      about: "Command palette; or go to a message by number",
      run: () => openPalette(store.page),
    },
    {
      keys: ["Escape"],
      about: "Clear the selection, then the time range",
      words: "unselect deselect reset",
      run: () => unselect(store),
    },
    ...clearActions(store),
    {
      keys: [],
      about: "Copy a link to this state",
      words: "share address url permalink",
      run: () => void copyText(link(store)),
    },
    ...saveBindings(store),
    ...THEMES.map(
      (name): KeyBinding => ({
        keys: [],
        about: `Theme: ${name}`,
        words: "color mode appearance",
        run: () => {
          theme.value = name;
        },
      }),
    ),
  ];
}

function viewKeys(store: Store): KeyBinding[] {
  return VIEWS.map(({ name, title, about, words }, place) => ({
    keys: [String(place + 1)],
    about: `Go to ${title}`,
    words: `view ${about} ${words}`,
    run: () => {
      store.view.value = name;
    },
  }));
}

/**
 * Actions that remove the filter, the time range and hidden services, individually and together.
 */
function clearActions(store: Store): KeyBinding[] {
  const isFiltered = (): boolean => store.draft.peek() !== "";
  const isRange = (): boolean => store.span.peek() !== undefined;
  const isHiding = (): boolean => store.hidden.peek().size > 0;
  const showWholeTime = (): void => {
    store.span.value = undefined;
  };
  return [
    {
      keys: [],
      about: "Clear the filter",
      words: "reset query remove",
      when: isFiltered,
      run: () => store.setQuery(""),
    },
    {
      keys: [],
      about: "Clear the time range",
      words: "reset span whole zoom out remove",
      when: isRange,
      run: showWholeTime,
    },
    {
      keys: [],
      about: "Show all services",
      words: "clear reset hidden ticks",
      when: isHiding,
      run: () => store.setHidden([]),
    },
    {
      keys: [],
      about: "Show all messages",
      words: "clear reset everything filter time range services",
      when: () => isFiltered() || isRange() || isHiding(),
      run: () =>
        batch(() => {
          store.setQuery("");
          showWholeTime();
          store.setHidden([]);
        }),
    },
  ];
}

function unselect(store: Store): void {
  batch(() => {
    if (store.selected.peek() === undefined) store.span.value = undefined;
    else store.selectMessage(undefined);
  });
}
