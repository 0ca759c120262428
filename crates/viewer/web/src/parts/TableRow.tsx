// A row of a table.

import type { ComponentChildren, JSX } from "preact";
import { useMemo } from "preact/hooks";
import { CutText } from "./CutText";
import { type Cell, shown, type TableData } from "./table";

/** What stands in a cell, if it is not its text. */
export type RenderCell = (
  cell: Cell,
  column: number,
  place: number,
) => ComponentChildren | undefined;

interface TableRowProps {
  readonly table: TableData;
  readonly place: number;
  /** Its place in the order that is shown. */
  readonly index: number;
  /** Pixels below the first row. */
  readonly top: number;
  readonly id: string;
  readonly state: string;
  readonly isSelected: boolean;
  readonly render: RenderCell | undefined;
}

export function TableRow(props: TableRowProps): JSX.Element {
  const { table, place, index, top, id, state, isSelected, render } = props;
  const cells = useMemo(() => cellsOf(table, place, render), [table, place, render]);
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

function cellsOf(table: TableData, place: number, render?: RenderCell): JSX.Element[] {
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
        {render?.(cell, column, place) ?? (isText ? <CutText text={text} /> : text)}
      </div>
    );
  });
}

/** Characters that are shown when the pointer rests on a cell. */
const TITLE_MAX = 1000;
