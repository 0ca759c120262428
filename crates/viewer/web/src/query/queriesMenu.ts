// A menu of saved and recent queries.

import { action, type MenuItem, openMenu } from "../parts/Menu";
import type { Store } from "../state/store";
import { forget, noteUsed, save } from "./queryHistory";

/** Opens a menu with the saved queries and the recent queries. */
export function openQueries(event: MouseEvent | KeyboardEvent, store: Store): void {
  const query = store.draft.peek().trim();
  const { savedQueries, usedQueries } = store.page;
  openMenu(store.page, event, [
    ...group("Saved", savedQueries.peek(), store),
    ...group("Recent", usedQueries.peek(), store),
    ...keeping(query, store),
  ]);
}

function group(label: string, queries: readonly string[], store: Store): MenuItem[] {
  if (queries.length === 0) return [];
  const choose = (query: string) => (): void => {
    store.setQuery(query);
    noteUsed(store.page, query);
  };
  return [
    { kind: "heading", label },
    ...queries.map((query) => action(query, choose(query))),
    { kind: "separator" },
  ];
}

function keeping(query: string, store: Store): MenuItem[] {
  const { savedQueries, usedQueries } = store.page;
  const items: MenuItem[] = [];
  const isKept = savedQueries.peek().includes(query);
  const isRight = store.queryProblem.peek() === undefined;
  if (isKept) items.push(action("Remove from saved filters", () => forget(store.page, query)));
  else if (query !== "" && isRight)
    items.push(action("Save this filter", () => save(store.page, query)));
  if (usedQueries.peek().length > 0) {
    items.push(action("Clear recent", () => (usedQueries.value = [])));
  }
  if (items.length === 0) items.push({ kind: "heading", label: "No filters yet" });
  return items;
}
