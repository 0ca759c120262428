import type { Cell, TableData } from "../generated/protocol";
// Tables as CSV (RFC 4180), with a first line of keys, in the same form as on the command line.

/** A table as comma-separated values, with its rows in this order. */
export function csvOf(table: TableData, order: readonly number[]): string {
  const keys = line(table.columns.map(({ key }) => key));
  return keys + order.map((place) => line(table.rows[place] ?? [])).join("");
}

function line(cells: readonly Cell[]): string {
  return `${cells.map(field).join(",")}\n`;
}

function field(cell: Cell): string {
  const text = cell === null ? "" : String(cell);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
