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

/** What is done with a row by Enter and by a double click. */
export interface RowUse {
  readonly label: string;
  /** The same within a sentence. */
  readonly hint: string;
  readonly run: (row: Row) => void;
}

/** Filters by what rows are about. */
export function filterUse(store: Store, subject: string): RowUse {
  const run = (row: Row): void => filterByRow(store, subject, row);
  return { label: FILTER, hint: "filter by it", run };
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

/** A button for the row that is selected. */
interface RowAction {
  readonly label: string;
  readonly run: () => void;
}

/** What can be done with a row; first what Enter does. */
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

/** What a row is called: its first cell. */
export function nameOfRow({ table, place }: Row): string {
  return shown(table.rows[place]?.[0] ?? null, table.columns[0]?.unit ?? "text");
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
