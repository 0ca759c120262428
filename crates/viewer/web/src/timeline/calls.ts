// The messages of a time range as a table, for screen readers.

import type { Cell, TableData } from "../generated/protocol";
import { Kind, NONE, type Recording } from "../model/recording";
import { partitionPoint } from "../model/search";
import type { Visible } from "../state/visible";
import { nameOf, partiesOf } from "./label";

/** Maximum number of rows of the table. */
export const ROWS_MAX = 2000;

const COLUMNS = [
  { name: "number", key: "number", unit: "count" },
  { name: "at", key: "at_ns", unit: "time" },
  { name: "kind", key: "kind", unit: "text" },
  { name: "member", key: "member", unit: "text" },
  { name: "from and to", key: "parties", unit: "text" },
  { name: "replied after", key: "duration_ns", unit: "time" },
] as const;

/** The first displayed messages of a time range. */
export function callsIn(
  recording: Recording,
  visible: Visible,
  from = 0,
  until = Number.POSITIVE_INFINITY,
): TableData {
  const rows: Cell[][] = [];
  const { rows: all } = visible;
  for (
    let place = firstAt(recording, all, from);
    place < all.length && rows.length < ROWS_MAX;
    place++
  ) {
    const row = all[place] as number;
    if (recording.at.get(row) >= until) break;
    if (row < recording.length && recording.kind.get(row) !== Kind.Return)
      rows.push(cellsOf(recording, row));
  }
  return { columns: COLUMNS, rows, notes: [] };
}

/** The position of the first row at or after a time. */
function firstAt(recording: Recording, rows: Uint32Array, time: number): number {
  return partitionPoint(rows.length, (place) => recording.at.get(rows[place] as number) < time);
}

function cellsOf(recording: Recording, row: number): Cell[] {
  const kind = recording.kind.get(row);
  const isAnswered = kind === Kind.Call && recording.partner.get(row) !== NONE;
  return [
    row + 1,
    recording.at.get(row),
    WORDS[kind] ?? "other",
    nameOf(recording, row),
    partiesOf(recording, row),
    isAnswered ? (recording.durationOf(row) ?? null) : null,
  ];
}

const WORDS: Readonly<Record<number, string>> = {
  [Kind.Call]: "call",
  [Kind.Error]: "error",
  [Kind.Signal]: "signal",
};
