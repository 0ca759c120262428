// Menu entries for a value, wherever it is displayed.

import { copyText } from "../parts/copy";
import { action, type MenuItem } from "../parts/Menu";
import type { Store } from "../state/store";
import { addNotTerm, addTerm, type Field, replaceQuery, term } from "./terms";

/** Menu entries that filter by a value or copy it. */
export function filterItems(store: Store, field: Field, value: string | number): MenuItem[] {
  return [...termItems(store, term(field, value)), ...copyItems(String(value))];
}

/** Menu entries that filter by a term. */
export function termItems(store: Store, text: string): MenuItem[] {
  return [
    action("Filter by this", () => addTerm(store, text), text),
    action("Exclude", () => addNotTerm(store, text), `!${text}`),
    action("Only this", () => replaceQuery(store, text)),
    { kind: "separator" },
  ];
}

/** Menu entries that copy a text. */
export function copyItems(text: string): MenuItem[] {
  return [action("Copy", () => void copyText(text))];
}
