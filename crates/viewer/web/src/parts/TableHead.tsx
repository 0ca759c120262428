// The head of a table. Clicking a heading sorts the table, and dragging its edge resizes the
// column.

import type { JSX } from "preact";
import type { TableColumn } from "../generated/protocol";
import type { Sort } from "./table";

interface TableHeadProps {
  readonly columns: readonly TableColumn[];
  readonly widths: readonly number[];
  readonly sort: Sort | undefined;
  readonly about: Readonly<Record<string, string>> | undefined;
  readonly onSort: (sort: Sort) => void;
  /**
   * Called with the pixels by which the user dragged the edge of a column, or without a number to
   * reset its width.
   */
  readonly onPull: (column: number, by: number | undefined) => void;
}

export function TableHead(props: TableHeadProps): JSX.Element {
  return (
    <div class="data-head" role="row" aria-rowindex={1}>
      {props.columns.map((column, place) => (
        <Heading key={column.key} {...props} column={column} place={place} />
      ))}
    </div>
  );
}

interface HeadingProps extends TableHeadProps {
  readonly column: TableColumn;
  readonly place: number;
}

function Heading({ column, place, sort, about, onSort, onPull }: HeadingProps): JSX.Element {
  const direction = sort?.column === place ? directionOf(sort) : "none";
  // Sorting begins with the largest number, or with the alphabetically first text.
  const descending = direction === "none" ? column.unit !== "text" : direction === "ascending";
  const pullByKey = (event: KeyboardEvent): void => {
    const by = event.altKey ? PULLS[event.key] : undefined;
    if (by === undefined) return;
    event.preventDefault();
    onPull(place, by);
  };
  return (
    <div role="columnheader" aria-sort={direction} class={`unit-${column.unit}`}>
      <button
        type="button"
        title={about?.[column.key]}
        aria-keyshortcuts="Alt+ArrowLeft Alt+ArrowRight"
        onClick={() => onSort({ column: place, descending })}
        onKeyDown={pullByKey}
      >
        {column.name}
      </button>
      <span
        class="data-grip"
        aria-hidden="true"
        onPointerDown={(event) => pull(event, (by) => onPull(place, by))}
        onDblClick={() => onPull(place, undefined)}
      />
    </div>
  );
}

function directionOf(sort: Sort): "ascending" | "descending" {
  return sort.descending ? "descending" : "ascending";
}

/** Reports each movement of the pointer until it is released. */
function pull(event: PointerEvent, onMove: (by: number) => void): void {
  const grip = event.currentTarget;
  if (!(grip instanceof HTMLElement)) return;
  event.preventDefault();
  grip.setPointerCapture(event.pointerId);
  let last = event.clientX;
  const move = (moved: PointerEvent): void => {
    onMove(moved.clientX - last);
    last = moved.clientX;
  };
  grip.addEventListener("pointermove", move);
  const end = (): void => grip.removeEventListener("pointermove", move);
  grip.addEventListener("lostpointercapture", end, { once: true });
}

/** The change in pixels by key. */
const PULLS: Readonly<Record<string, number>> = { ArrowLeft: -16, ArrowRight: 16 };
