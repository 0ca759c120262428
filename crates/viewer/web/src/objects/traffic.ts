// Links from names, objects and members to their messages.

import { batch } from "@preact/signals";
import { action, type MenuItem } from "../parts/openMenu";
import { copyItems } from "../query/filterMenu";
import { replaceQuery } from "../query/terms";
import type { Store } from "../state/store";

/**
 * The menu for a name, object or member: shows the messages that match these terms, and copies the
 * name.
 */
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
