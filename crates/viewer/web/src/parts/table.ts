// Tables of the program: columns with units, and rows of numbers and texts.

import type { Cell, TableData, Unit } from "../generated/protocol";
import { bytes, count, duration, mean, rate, share } from "./format";
import { oneLine } from "./visibleText";

/** The column and direction by which rows are sorted. */
export interface Sort {
  readonly column: number;
  readonly descending: boolean;
}

/** A cell formatted for display. */
export function shown(cell: Cell, unit: Unit): string {
  if (cell === null) return "";
  if (typeof cell === "string") return oneLine(cell);
  return AMOUNTS[unit](cell);
}

/** The indices of the rows in sorted order. Absent values come last in both directions. */
export function sorted(table: TableData, sort: Sort | undefined): number[] {
  const order = table.rows.map((_, place) => place);
  if (sort === undefined) return order;
  const sign = sort.descending ? -1 : 1;
  const cell = (place: number): Cell => table.rows[place]?.[sort.column] ?? null;
  return order.sort((one, other) => compare(cell(one), cell(other), sign));
}

function compare(one: Cell, other: Cell, sign: number): number {
  if (one === null || other === null) return Number(one === null) - Number(other === null);
  if (typeof one === "number" && typeof other === "number") return sign * (one - other);
  return sign * (String(one) < String(other) ? -1 : Number(one !== other));
}

const AMOUNTS: Record<Unit, (number: number) => string> = {
  text: String,
  count,
  bytes,
  time: duration,
  share,
  rate,
  mean,
};

/** A row of a table. */
export interface Row {
  readonly table: TableData;
  readonly place: number;
}

/** The cell of a row in the column with this key; null if there is no such column. */
export function cellOf({ table, place }: Row, key: string): Cell {
  const column = table.columns.findIndex((one) => one.key === key);
  return table.rows[place]?.[column] ?? null;
}

/** The same rows with only these columns, in this order. Unknown keys are ignored. */
export function withColumns(table: TableData, keys: readonly string[]): TableData {
  const places = keys
    .map((key) => table.columns.findIndex((one) => one.key === key))
    .filter((place) => place >= 0);
  return pick(table, places);
}

/** The same rows without columns that are empty in all of them. */
export function withoutEmptyColumns(table: TableData): TableData {
  const isEmpty = (cell: Cell | undefined): boolean => cell == null || cell === "";
  const places = table.columns
    .map((_, place) => place)
    .filter((place) => table.rows.some((row) => !isEmpty(row[place])));
  return pick(table, places);
}

/** The same rows with the columns at these indices. */
function pick(table: TableData, places: readonly number[]): TableData {
  const from = <T>(items: readonly T[]): T[] =>
    places.flatMap((place) => items.slice(place, place + 1));
  return { ...table, columns: from(table.columns), rows: table.rows.map(from) };
}
