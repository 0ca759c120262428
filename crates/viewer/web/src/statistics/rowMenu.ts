// What can be done with a row of a table.

import { copyText } from "../parts/copy";
import { csvOf } from "../parts/csv";
import { action, type MenuItem } from "../parts/Menu";
import { cellOf, type Row, shown } from "../parts/table";
import { copyItems } from "../query/filterMenu";
import { addNotTerm, addTerm, replaceQuery } from "../query/terms";
import type { Store } from "../state/store";
import { termOfRow } from "./rowTerms";

/** What of a row is known besides its cells. */
export interface RowMenu {
  readonly store: Store;
  /** The name of the table. */
  readonly subject: string;
  readonly row: Row;
  /** The cell that it is asked of. */
  readonly column: number;
  /** The row of the recording that the row stands for, and what it is there. */
  readonly message?: { readonly row: number; readonly about: string } | undefined;
}

/** The lines of its menu. */
export function rowItems({ store, subject, row, column, message }: RowMenu): MenuItem[] {
  const term = termOfRow(store.recording.peek(), subject, row);
  const { table, place } = row;
  const { key = "", unit = "text" } = table.columns[column] ?? {};
  const text = shown(table.rows[place]?.[column] ?? null, unit);
  return [
    ...(term === undefined ? [] : filterItems(store, term)),
    ...(message === undefined
      ? []
      : [action(message.about, () => showMessage(store, message.row)), SEPARATOR]),
    ...(text === "" ? [] : copyItems(String(cellOf(row, key)))),
    action("Copy table as CSV", () => void copyTable(row)),
  ];
}

/** Has the query select what a row is about. */
export function filterByRow(store: Store, subject: string, row: Row): void {
  const term = termOfRow(store.recording.peek(), subject, row);
  if (term !== undefined) addTerm(store, term);
}

/** Goes to a message in the sequence. */
export function showMessage(store: Store, row: number): void {
  store.selectMessage(row);
  store.view.value = "sequence";
}

/** Lines that filter by terms that must all hold. */
function filterItems(store: Store, terms: string): MenuItem[] {
  return [
    action("Apply as filter", () => addTerm(store, terms), terms),
    action("And not", () => addNotTerm(store, `(${terms})`)),
    action("This alone", () => replaceQuery(store, terms)),
    SEPARATOR,
  ];
}

function copyTable({ table }: Row): Promise<void> {
  return copyText(csvOf(table, [...table.rows.keys()]));
}

const SEPARATOR: MenuItem = { kind: "separator" };
