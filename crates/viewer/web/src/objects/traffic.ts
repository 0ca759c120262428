// From what a bus has to the messages about it.

import { batch } from "@preact/signals";
import { action, type MenuItem } from "../parts/openMenu";
import { copyItems } from "../query/filterMenu";
import { replaceQuery } from "../query/terms";
import type { Store } from "../state/store";

/** Lines of a menu for something on the bus: its messages, found by these terms, and its name to be copied. */
export function trafficItems(store: Store, terms: readonly string[], name: string): MenuItem[] {
  const query = terms.join(" ");
  return [
    action("Show its traffic", () => showTraffic(store, query), query),
    { kind: "separator" },
    ...copyItems(name),
  ];
}

function showTraffic(store: Store, query: string): void {
  batch(() => {
    replaceQuery(store, query);
    store.view.value = "sequence";
  });
}
