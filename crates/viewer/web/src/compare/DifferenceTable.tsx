// The table of differences, with values before and after.

import { batch } from "@preact/signals";
import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import type { TableData } from "../generated/protocol";
import type { RenderCell } from "../parts/TableRow";
import { type Row, withoutEmptyColumns } from "../parts/table";
import { useStore } from "../state/context";
import type { Store } from "../state/store";
import { filterByRow } from "../statistics/rowMenu";
import { SubjectTable } from "../statistics/SubjectTable";

export function DifferenceTable({ table }: { readonly table: TableData }): JSX.Element {
  const store = useStore();
  const shown = useMemo(() => memberFirst(withoutEmptyColumns(table)), [table]);
  const render = useMemo<RenderCell>(() => {
    const change = shown.columns.findIndex(({ key }) => key === "change");
    return (cell, column) => (column === change ? <Changes words={String(cell)} /> : undefined);
  }, [shown]);
  return (
    <SubjectTable
      subject="compare"
      label="Changed methods and signals"
      table={shown}
      render={render}
      use={{
        label: "Show side by side",
        hint: "show its messages side by side",
        run: (row) => showSideBySide(store, row),
      }}
      widths={WIDTHS}
    />
  );
}

/** Shows the messages of a member in both diagrams. */
function showSideBySide(store: Store, row: Row): void {
  batch(() => {
    filterByRow(store, "compare", row);
    store.comparison.value = { ...store.comparison.value, tab: "sequences" };
  });
}

function Changes({ words }: { readonly words: string }): JSX.Element {
  return (
    <>
      {words.split(", ").map((word) => (
        <span key={word} class={`change of-${TONES[word] ?? "plain"}`}>
          {word}
        </span>
      ))}
    </>
  );
}

/** Moves the member to the first column, so that it stays visible when the table scrolls. */
function memberFirst(table: TableData): TableData {
  const place = table.columns.findIndex(({ key }) => key === "member");
  const moved = <T,>(cells: readonly T[]): T[] => [
    ...cells.slice(place, place + 1),
    ...cells.slice(0, place),
    ...cells.slice(place + 1),
  ];
  return { ...table, columns: moved(table.columns), rows: table.rows.map(moved) };
}

/** The classification of changes. */
const TONES: Readonly<Record<string, string>> = {
  new: "new",
  gone: "gone",
  "more errors": "worse",
  slower: "worse",
  "fewer errors": "better",
  faster: "better",
};

const WIDTHS = {
  change: "150px",
  member: "minmax(230px, 4fr)",
  service: "minmax(120px, 2fr)",
  used_before: "94px",
  p95_before_ns: "94px",
  errors_before: "104px",
  errors_after: "96px",
  bytes_before: "100px",
  bytes_after: "94px",
};
