// A table of the statistics with actions for the selected row.

import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import type { StatisticsAnswer, TableData } from "../generated/protocol";
import { DataTable } from "../parts/DataTable";
import { openMenu } from "../parts/Menu";
import type { RenderCell } from "../parts/TableRow";
import type { Row, Sort } from "../parts/table";
import type { Asked } from "../state/answer";
import { useStore } from "../state/context";
import { RowActions } from "./RowActions";
import { filterUse, type RowMenu, type RowUse, rowItems } from "./rowMenu";
import { statisticsState } from "./state";

interface SubjectTableProps {
  /** The name of the table. */
  readonly subject: string;
  readonly label: string;
  readonly table: TableData;
  readonly sort?: Sort;
  readonly render?: RenderCell;
  readonly widths?: Readonly<Record<string, string>>;
  readonly about?: Readonly<Record<string, string>>;
  /** The action for Enter and a double-click, if it differs from filtering. */
  readonly use?: RowUse;
  /** Returns the message that a row stands for. */
  readonly messageOf?: (row: Row) => RowMenu["message"];
}

export function SubjectTable(props: SubjectTableProps): JSX.Element {
  const store = useStore();
  const { subject, table, messageOf, sort, use = filterUse(store, subject), ...shown } = props;
  const selected = useSignal<number | undefined>(undefined);
  const place = selected.value;
  const isThere = place !== undefined && place < table.rows.length;
  return (
    <div class="subject-table">
      <DataTable
        {...shown}
        {...statisticsState(store).sorting(table, sort)}
        table={table}
        usedBy="double-click"
        onChoose={(place) => use.run({ table, place })}
        onSelect={(place) => (selected.value = place)}
        onMenu={(event, place, column) => {
          const row = { table, place };
          openMenu(
            store.page,
            event,
            rowItems({ store, subject, row, column, message: messageOf?.(row) }),
          );
        }}
      />
      <RowActions
        subject={subject}
        use={use}
        row={isThere ? { table, place } : undefined}
        messageOf={messageOf}
      />
    </div>
  );
}

interface AnswerViewProps {
  readonly request: Asked<StatisticsAnswer>;
  /** The text for a table without rows. */
  readonly empty: string;
  readonly children: (answer: StatisticsAnswer) => JSX.Element;
}

/** Shows the answer, or a message if it is empty, missing or failed. */
export function AnswerView({ request, empty, children }: AnswerViewProps): JSX.Element {
  const { answer, problem, isWaiting } = request;
  if (problem !== undefined) return <p class="empty">{sentence(problem)}</p>;
  if (answer === undefined) return <p class="empty">{isWaiting ? "Counting…" : ""}</p>;
  if (answer.table.rows.length === 0) return <p class="empty">{empty}</p>;
  return <WithNotes notes={answer.table.notes}>{children(answer)}</WithNotes>;
}

interface WithNotesProps {
  readonly notes: TableData["notes"];
  readonly children: JSX.Element;
}

/** A table with notes below it. */
export function WithNotes({ notes = [], children }: WithNotesProps): JSX.Element {
  if (notes.length === 0) return children;
  return (
    <div class="with-notes">
      <div class="fill">{children}</div>
      {notes.map((note) => (
        <p key={note} class="note">
          {sentence(note)}
        </p>
      ))}
    </div>
  );
}

/** Writes a message of the program as a sentence. */
export function sentence(text: string): string {
  const capitalized = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(capitalized) ? capitalized : `${capitalized}.`;
}
