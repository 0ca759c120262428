// Tables as they are told: columns with units, and rows of numbers and texts.

import type { Cell, TableData, Unit } from "../generated/protocol";
import { bytes, count, duration, mean, rate, share } from "./format";
import { oneLine } from "./visibleText";

/** By which column rows are sorted. */
export interface Sort {
  readonly column: number;
  readonly descending: boolean;
}

/** A cell as people read it. */
export function shown(cell: Cell, unit: Unit): string {
  if (cell === null) return "";
  if (typeof cell === "string") return oneLine(cell);
  return AMOUNTS[unit](cell);
}

/** The places of the rows in their order; what is absent comes last in either direction. */
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

/** A row with the columns that its cells are of. */
export interface Row {
  readonly table: TableData;
  readonly place: number;
}

/** The cell of a row under the column of this key; null if there is no such column. */
export function cellOf({ table, place }: Row, key: string): Cell {
  const column = table.columns.findIndex((one) => one.key === key);
  return table.rows[place]?.[column] ?? null;
}

/** The same rows with these columns alone, in this order; those that there are not are left out. */
export function withColumns(table: TableData, keys: readonly string[]): TableData {
  const places = keys
    .map((key) => table.columns.findIndex((one) => one.key === key))
    .filter((place) => place >= 0);
  return pick(table, places);
}

/** The same rows without the columns that are empty in all of them. */
export function withoutEmptyColumns(table: TableData): TableData {
  const isEmpty = (cell: Cell | undefined): boolean => cell == null || cell === "";
  const places = table.columns
    .map((_, place) => place)
    .filter((place) => table.rows.some((row) => !isEmpty(row[place])));
  return pick(table, places);
}

/** The columns at these places. */
function pick(table: TableData, places: readonly number[]): TableData {
  const from = <T>(items: readonly T[]): T[] =>
    places.flatMap((place) => items.slice(place, place + 1));
  return { ...table, columns: from(table.columns), rows: table.rows.map(from) };
}
