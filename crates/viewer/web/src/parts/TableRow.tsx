// A row of a table.

import type { ComponentChildren, JSX } from "preact";
import { useMemo } from "preact/hooks";
import type { Cell, TableData } from "../generated/protocol";
import { CutText, Room } from "./CutText";
import { shown } from "./table";

/** Renders a cell; undefined renders its text. */
export type RenderCell = (
  cell: Cell,
  column: number,
  place: number,
) => ComponentChildren | undefined;

interface TableRowProps {
  readonly table: TableData;
  readonly place: number;
  /** The index in the displayed order. */
  readonly index: number;
  /** The offset from the first row in pixels. */
  readonly top: number;
  readonly id: string;
  readonly state: string;
  readonly isSelected: boolean;
  readonly render: RenderCell | undefined;
  /** The widths of the columns in pixels. */
  readonly widths: readonly number[];
}

export function TableRow(props: TableRowProps): JSX.Element {
  const { table, place, index, top, id, state, isSelected, render, widths } = props;
  const cells = useMemo(
    () => cellsOf(table, place, widths, render),
    [table, place, widths.join(" "), render],
  );
  return (
    <div
      class={`data-row ${state}`}
      role="row"
      id={id}
      aria-rowindex={index + 2}
      aria-selected={isSelected}
      data-place={place}
      style={{ transform: `translateY(${top}px)` }}
    >
      {cells}
    </div>
  );
}

function cellsOf(
  table: TableData,
  place: number,
  widths: readonly number[],
  render?: RenderCell,
): JSX.Element[] {
  const row = table.rows[place] ?? [];
  return table.columns.map(({ key, unit }, column) => {
    const cell = row[column] ?? null;
    const text = shown(cell, unit);
    const isText = unit === "text";
    return (
      <div
        key={key}
        role="gridcell"
        class={`unit-${unit}`}
        data-column={column}
        title={isText ? text.slice(0, TITLE_MAX) : undefined}
      >
        {isText ? (
          <Room.Provider value={(widths[column] ?? 0) - AROUND}>
            {render?.(cell, column, place) ?? <CutText text={text} />}
          </Room.Provider>
        ) : (
          (render?.(cell, column, place) ?? text)
        )}
      </div>
    );
  });
}

/** The maximum length of a cell's tooltip. */
const TITLE_MAX = 1000;
/** The horizontal padding of a cell in pixels. */
const AROUND = 16;
