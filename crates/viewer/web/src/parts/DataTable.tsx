// A table that is sorted by a click, and long without cost.

import { useSignal } from "@preact/signals";
import type { ComponentChildren, CSSProperties, JSX } from "preact";
import { useMemo, useRef } from "preact/hooks";
import { type Cell, type Sort, shown, sorted, type TableData, type Unit } from "./table";
import { useVirtualRows } from "./virtual";

interface DataTableProps {
  readonly table: TableData;
  /** What it is, for those who cannot see it. */
  readonly label: string;
  /** By which column it is sorted at first; as it comes without. */
  readonly sort?: Sort;
  /** The place of the row that is marked. */
  readonly marked?: number | undefined;
  /** Told of the place of a row that is chosen. */
  readonly onChoose?: (place: number) => void;
  /** Told of a cell that is clicked with the other button. */
  readonly onMenu?: (event: MouseEvent, place: number, column: number) => void;
  /** What stands in a cell, if it is not its text. */
  readonly render?: (cell: Cell, column: number, place: number) => ComponentChildren | undefined;
  /** Widths of the columns as CSS grid has them, where those by unit do not do. */
  readonly widths?: Readonly<Record<string, string>>;
}

const ROW_HEIGHT = 26;

/** The usual widths of columns. */
const WIDTHS: Record<Unit, string> = {
  text: "minmax(8rem, 1fr)",
  count: "5.5rem",
  bytes: "6rem",
  time: "6rem",
  share: "4.5rem",
  rate: "5.5rem",
};

export function DataTable(props: DataTableProps): JSX.Element {
  const { table, label } = props;
  const sort = useSignal<Sort | undefined>(props.sort);
  const scroller = useRef<HTMLDivElement>(null);
  const order = useMemo(() => sorted(table, sort.value), [table, sort.value]);
  const rows = useVirtualRows(scroller, order.length, ROW_HEIGHT);
  const columns = table.columns.map(({ key, unit }) => props.widths?.[key] ?? WIDTHS[unit]);
  const style = { gridTemplateColumns: columns.join(" ") };
  return (
    <div
      class="data-table"
      role="table"
      aria-label={label}
      aria-rowcount={order.length + 1}
      ref={scroller}
      tabIndex={0}
    >
      <Head table={table} sort={sort.value} style={style} onSort={(to) => (sort.value = to)} />
      <div class="data-rows" role="rowgroup" style={{ height: `${rows.height}px` }}>
        {rows.items.map(({ index, start }) => {
          const place = order[index] ?? 0;
          const moved = { ...style, transform: `translateY(${start}px)` };
          return <Row key={place} {...props} place={place} index={index} style={moved} />;
        })}
      </div>
    </div>
  );
}

interface HeadProps {
  readonly table: TableData;
  readonly sort: Sort | undefined;
  readonly style: CSSProperties;
  readonly onSort: (sort: Sort) => void;
}

function Head({ table, sort, style, onSort }: HeadProps): JSX.Element {
  return (
    <div class="data-head" role="row" style={style}>
      {table.columns.map(({ name, key, unit }, column) => {
        const direction = sort?.column === column ? directionOf(sort) : "none";
        // Numbers are looked for from the largest, texts from the first.
        const descending = direction === "none" ? unit !== "text" : direction === "ascending";
        return (
          <div key={key} role="columnheader" aria-sort={direction} class={`unit-${unit}`}>
            <button type="button" onClick={() => onSort({ column, descending })}>
              {name}
            </button>
          </div>
        );
      })}
    </div>
  );
}

function directionOf(sort: Sort): "ascending" | "descending" {
  return sort.descending ? "descending" : "ascending";
}

interface RowProps extends DataTableProps {
  readonly place: number;
  readonly index: number;
  readonly style: CSSProperties;
}

function Row({
  table,
  place,
  index,
  style,
  marked,
  onChoose,
  onMenu,
  render,
}: RowProps): JSX.Element {
  const cells = table.rows[place] ?? [];
  return (
    <div
      class={`data-row${marked === place ? " marked" : ""}${onChoose ? " choosable" : ""}`}
      role="row"
      aria-rowindex={index + 2}
      style={style}
      onClick={() => onChoose?.(place)}
    >
      {table.columns.map(({ key, unit }, column) => {
        const cell = cells[column] ?? null;
        const text = shown(cell, unit);
        return (
          <div
            key={key}
            role="cell"
            class={`unit-${unit}`}
            title={unit === "text" ? text : undefined}
            onContextMenu={(event) => onMenu?.(event, place, column)}
          >
            {render?.(cell, column, place) ?? text}
          </div>
        );
      })}
    </div>
  );
}
