// Keys of the page as a whole.

import { batch } from "@preact/signals";
import { toggleKeySheet } from "../keys/KeySheet";
import type { KeyBinding } from "../keys/keys";
import { openPalette } from "../keys/Palette";
import type { Store } from "../state/store";
import { nextTheme, theme } from "../state/theme";
import { VIEWS } from "../state/views";

/** What keys do wherever one is. */
export function pageKeys(store: Store): readonly KeyBinding[] {
  const views = VIEWS.map(({ name, title, about }, place) => ({
    keys: [String(place + 1)],
    about: `${title}: ${lowered(about)}`,
    run: () => {
      store.view.value = name;
    },
  }));
  return [
    ...views,
    {
      keys: ["t"],
      about: "light, dark, or as the desktop has it",
      run: () => {
        theme.value = nextTheme(theme.peek());
      },
    },
    { keys: ["?"], about: "shows all keys", run: toggleKeySheet },
    {
      keys: [":", "Ctrl+Shift+P"],
      about: "finds what can be done by its words, or a message by its number",
      run: openPalette,
    },
    {
      keys: ["Escape"],
      about: "unselects the message, then the stretch of time",
      run: () => unselect(store),
    },
  ];
}

function unselect(store: Store): void {
  batch(() => {
    if (store.selected.peek() === undefined) store.span.value = undefined;
    else store.selectMessage(undefined);
  });
}

function lowered(sentence: string): string {
  return sentence.charAt(0).toLowerCase() + sentence.slice(1);
}
