// A sortable table with virtual rows.

import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useId, useMemo, useRef } from "preact/hooks";
import type { TableData } from "../generated/protocol";
import { TABLE_NOTES } from "../keys/tableNotes";
import { useKeys } from "../keys/useKeys";
import { atLeast, laidOut, pulled, usualWidth, type Width, widthOf } from "./columns";
import { textWidth } from "./measure";
import { TableHead } from "./TableHead";
import { type RenderCell, TableRow } from "./TableRow";
import { type Sort, sorted } from "./table";
import { rowAfter } from "./tableKeys";
import { useWidth } from "./useWidth";
import { useVirtualRows } from "./virtual";

interface DataTableProps {
  readonly table: TableData;
  /** The accessible name of the table. */
  readonly label: string;
  /**
   * The sort order; undefined keeps the order of the rows. It is only the initial order unless
   * {@link onSort} is given.
   */
  readonly sort?: Sort | undefined;
  /** Called when the user changes the sort order. */
  readonly onSort?: (sort: Sort) => void;
  /** The index of the highlighted row. */
  readonly marked?: number | undefined;
  /** Called with the index of a row that the user activates, by Enter or by {@link usedBy}. */
  readonly onChoose?: (place: number) => void;
  /** The pointer action that activates a row. A click always selects it. */
  readonly usedBy?: "click" | "double-click";
  /** Called with the index of the selected row, and with undefined when that row is gone. */
  readonly onSelect?: (place: number | undefined) => void;
  /** Called when the user opens the context menu of a cell, by the pointer or by the menu key. */
  readonly onMenu?: (event: MouseEvent, place: number, column: number) => void;
  /**
   * Renders a cell, if it returns something. It must be the same function as long as its results do
   * not change.
   */
  readonly render?: RenderCell;
  /** CSS widths of columns by key, where the default of their unit does not fit. */
  readonly widths?: Readonly<Record<string, string>>;
  /** Tooltips of column headings by key. */
  readonly about?: Readonly<Record<string, string>>;
}

/** A table whose first column stays in place when the others scroll. */
export function DataTable(props: DataTableProps): JSX.Element {
  const { table, label, marked, onChoose, usedBy = "click" } = props;
  const id = useId();
  const { sort, onSort } = useSorting(props);
  const active = useSignal<ActiveRow | undefined>(undefined);
  const scroller = useRef<HTMLDivElement>(null);
  const order = useMemo(() => sorted(table, sort), [table, sort?.column, sort?.descending]);
  const rows = useVirtualRows(scroller, order.length, ROW_HEIGHT, ROW_HEIGHT);
  const { widths, pull } = useColumns(props, scroller, sort?.column);
  const whole = widths.reduce((sum, width) => sum + width, 0);
  const style = { "--columns": widths.map((width) => `${width}px`).join(" "), minWidth: whole };
  const activePlace = active.value && placeOfActive(table, active.value);
  const activeIndex = activePlace === undefined ? undefined : order.indexOf(activePlace);
  const select = (place: number): void => {
    active.value = { place, texts: textsOf(table, place) };
  };
  useKeys("Tables", () => [], TABLE_NOTES);
  useEffect(() => props.onSelect?.(activePlace), [activePlace]);
  const moveTo = (index: number): void => {
    select(order[index] ?? 0);
    rows.scrollTo(index);
  };
  const press = (event: KeyboardEvent): void => {
    if (event.target !== scroller.current || event.altKey || event.ctrlKey || event.metaKey) return;
    const page = Math.floor((scroller.current?.clientHeight ?? 0) / ROW_HEIGHT) - 2;
    const next = rowAfter(event.key, { at: activeIndex, count: order.length, page });
    if (next !== undefined) moveTo(next);
    else if (event.key === "Enter" && activePlace !== undefined) onChoose?.(activePlace);
    else if (isMenuKey(event) && activePlace !== undefined) openByKey(`${id}-${activePlace}`);
    else return;
    event.preventDefault();
  };
  const click = (event: MouseEvent): void => {
    const place = placeOf(event);
    if (place === undefined) return;
    select(place);
    if (usedBy === "click") onChoose?.(place);
  };
  const doubleClick = (event: MouseEvent): void => {
    const place = placeOf(event);
    if (place !== undefined && usedBy === "double-click") onChoose?.(place);
  };
  return (
    <div
      class={`data-table${onChoose ? " choosable" : ""}`}
      role="grid"
      aria-label={label}
      aria-rowcount={order.length + 1}
      aria-colcount={table.columns.length}
      aria-activedescendant={activePlace === undefined ? undefined : `${id}-${activePlace}`}
      ref={scroller}
      tabIndex={0}
      onKeyDown={press}
      onClick={click}
      onDblClick={doubleClick}
      onContextMenu={(event) => openMenuOf(event, props)}
    >
      <div class="data-whole" role="presentation" style={style}>
        <TableHead
          columns={table.columns}
          widths={widths}
          sort={sort}
          about={props.about}
          onSort={onSort}
          onPull={pull}
        />
        <div class="data-rows" role="rowgroup" style={{ height: `${rows.height}px` }}>
          {rows.items.map(({ index, start }) => {
            const place = order[index] ?? 0;
            return (
              <TableRow
                key={place}
                table={table}
                place={place}
                index={index}
                top={start - ROW_HEIGHT}
                id={`${id}-${place}`}
                state={`${marked === place ? "marked" : ""}${activePlace === place ? " active" : ""}`}
                isSelected={marked === place || activePlace === place}
                render={props.render}
                widths={widths}
              />
            );
          })}
        </div>
      </div>
    </div>
  );
}

/** The sort order. The table manages it itself unless `onSort` is given. */
function useSorting({ sort, onSort }: DataTableProps): {
  readonly sort: Sort | undefined;
  readonly onSort: (sort: Sort) => void;
} {
  const own = useSignal<Sort | undefined>(sort);
  if (onSort !== undefined) return { sort, onSort };
  return { sort: own.value, onSort: (to) => (own.value = to) };
}

/** The widths of the columns, which fill the table, and a function that changes one of them. */
function useColumns(
  { table, widths }: DataTableProps,
  scroller: { readonly current: HTMLElement | null },
  sortedBy: number | undefined,
): { widths: number[]; pull: (column: number, by: number | undefined) => void } {
  const room = useWidth(scroller);
  const chosen = useSignal<Readonly<Record<string, Width>>>({});
  const found = laidOut(
    table.columns.map(({ key, name, unit }, column) => {
      const fixed = widths?.[key];
      const usual = fixed === undefined ? usualWidth(unit) : widthOf(fixed);
      return chosen.value[key] ?? atLeast(usual, headWidth(name, column === sortedBy));
    }),
    room.value,
  );
  const pull = (column: number, by: number | undefined): void => {
    const key = table.columns[column]?.key ?? "";
    const { [key]: before, ...others } = chosen.value;
    const width = by === undefined ? undefined : pulled(found[column] ?? 0, by);
    chosen.value = width === undefined ? others : { ...others, [key]: width };
  };
  return { widths: found, pull };
}

/** The width in pixels that a heading needs, including the arrow of the sort column. */
function headWidth(name: string, isSorted: boolean): number {
  const width = isSorted ? textWidth(`${name} ▾`, "600") : textWidth(name);
  return Math.ceil(width) + HEAD_AROUND;
}

/**
 * The selected row: its index and its texts. The texts identify the row when rows of a live bus
 * change their order.
 */
interface ActiveRow {
  readonly place: number;
  readonly texts: string;
}

function textsOf({ columns, rows }: TableData, place: number): string {
  const cells = columns.map(({ unit }, column) =>
    unit === "text" ? rows[place]?.[column] : undefined,
  );
  return JSON.stringify(cells.filter((cell) => cell !== undefined));
}

function placeOfActive(table: TableData, { place, texts }: ActiveRow): number | undefined {
  if (place < table.rows.length && textsOf(table, place) === texts) return place;
  const found = table.rows.findIndex((_, other) => textsOf(table, other) === texts);
  return found < 0 ? undefined : found;
}

function openMenuOf(event: MouseEvent, { onMenu }: DataTableProps): void {
  const place = placeOf(event);
  const cell = event.target instanceof Element ? event.target.closest("[data-column]") : null;
  if (place !== undefined && cell !== null) {
    onMenu?.(event, place, Number(cell.getAttribute("data-column")));
  }
}

/**
 * The index of the row in which an event occurred; undefined outside of rows, and on a button or
 * link in a row.
 */
function placeOf(event: MouseEvent): number | undefined {
  if (!(event.target instanceof Element) || event.target.closest("button, a, input")) {
    return undefined;
  }
  const place = event.target.closest("[data-place]")?.getAttribute("data-place");
  return place == null ? undefined : Number(place);
}

function isMenuKey({ key, shiftKey }: KeyboardEvent): boolean {
  return key === "ContextMenu" || (key === "F10" && shiftKey);
}

/** Opens the context menu of the first cell of a row. */
function openByKey(row: string): void {
  const cell = document.getElementById(row)?.querySelector("[data-column]");
  const box = cell?.getBoundingClientRect();
  if (box === undefined) return;
  const { left: clientX, bottom: clientY } = box;
  cell?.dispatchEvent(
    new MouseEvent("contextmenu", { bubbles: true, cancelable: true, clientX, clientY, detail: 1 }),
  );
}

const ROW_HEIGHT = 26;
/** The padding in pixels around the name of a column. */
const HEAD_AROUND = 18;
