// Actions for a row of a table.

import { copyText } from "../parts/copy";
import { csvOf } from "../parts/csv";
import { action, type MenuItem } from "../parts/Menu";
import { cellOf, type Row, shown } from "../parts/table";
import { copyItems } from "../query/filterMenu";
import { addNotTerm, addTerm, replaceQuery } from "../query/terms";
import type { Store } from "../state/store";
import { termOfRow } from "./rowTerms";

/** A row of a table and its context. */
export interface RowMenu {
  readonly store: Store;
  /** The name of the table. */
  readonly subject: string;
  readonly row: Row;
  /** The column of the cell on which the menu was opened. */
  readonly column: number;
  /** The message that the row stands for, and the label for showing it. */
  readonly message?: { readonly row: number; readonly about: string } | undefined;
}

/** The action for Enter and a double-click. */
export interface RowUse {
  readonly label: string;
  /** The label within a sentence. */
  readonly hint: string;
  readonly run: (row: Row) => void;
}

/** The action that filters by the row. */
export function filterUse(store: Store, subject: string): RowUse {
  const run = (row: Row): void => filterByRow(store, subject, row);
  return { label: FILTER, hint: "filter by the row", run };
}

/** The lines of a row's context menu. */
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

/** A button for the selected row. */
interface RowAction {
  readonly label: string;
  readonly run: () => void;
}

/** The actions for a row. The first one is the action for Enter. */
export function rowActions(
  { store, subject, row, message }: Omit<RowMenu, "column">,
  use: RowUse,
): readonly RowAction[] {
  const term = termOfRow(store.recording.peek(), subject, row);
  const isUsable = term !== undefined || use.label !== FILTER;
  return [
    ...(isUsable ? [{ label: use.label, run: () => use.run(row) }] : []),
    ...(term === undefined
      ? []
      : [{ label: "Exclude", run: () => addNotTerm(store, `(${term})`) }]),
    ...(term === undefined ? [] : [{ label: "Only this", run: () => replaceQuery(store, term) }]),
    ...(message === undefined || message.about === use.label
      ? []
      : [{ label: message.about, run: () => showMessage(store, message.row) }]),
    { label: "Copy table as CSV", run: () => void copyTable(row) },
  ];
}

/** The name of a row: its first cell. */
export function nameOfRow({ table, place }: Row): string {
  return shown(table.rows[place]?.[0] ?? null, table.columns[0]?.unit ?? "text");
}

/** Adds the term for a row to the query. */
export function filterByRow(store: Store, subject: string, row: Row): void {
  const term = termOfRow(store.recording.peek(), subject, row);
  if (term !== undefined) addTerm(store, term);
}

/** Shows a message in the sequence diagram. */
export function showMessage(store: Store, row: number): void {
  store.selectMessage(row);
  store.view.value = "sequence";
}

/** Menu lines that filter by these terms. */
function filterItems(store: Store, terms: string): MenuItem[] {
  return [
    action(FILTER, () => addTerm(store, terms), terms),
    action("Exclude", () => addNotTerm(store, `(${terms})`)),
    action("Only this", () => replaceQuery(store, terms)),
    SEPARATOR,
  ];
}

function copyTable({ table }: Row): Promise<void> {
  return copyText(csvOf(table, [...table.rows.keys()]));
}

const FILTER = "Filter by this";
const SEPARATOR: MenuItem = { kind: "separator" };
