// Match rules and unanswered calls.

import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import type { TableData } from "../generated/protocol";
import { counted } from "../parts/format";
import type { RenderCell } from "../parts/TableRow";
import { cellOf, type Row, shown } from "../parts/table";
import { useStore } from "../state/context";
import type { Store } from "../state/store";
import { useStatistics } from "./queries";
import { type RowMenu, showMessage } from "./rowMenu";
import { AnswerView, SubjectTable } from "./SubjectTable";

/** The match rules of each connection, with duplicates highlighted. */
export function Rules(): JSX.Element {
  const request = useStatistics(() => "rules");
  return (
    <AnswerView request={request.value} empty="No connection has added a match rule.">
      {({ table }) => <RuleTable table={table} />}
    </AnswerView>
  );
}

function RuleTable({ table }: { readonly table: TableData }): JSX.Element {
  const render = useMemo<RenderCell>(() => {
    const column = table.columns.findIndex(({ key }) => key === "duplicates");
    return (cell, at) =>
      at === column && Number(cell) > 0 ? (
        <strong class="bad">{shown(cell, "count")}</strong>
      ) : undefined;
  }, [table]);
  return (
    <div class="by-subject">
      <p class="sentence">{rulesSummary(table)}</p>
      <div class="fill">
        <SubjectTable
          subject="rules"
          label="Match rules of each connection"
          table={table}
          render={render}
          widths={{ connection: "minmax(180px, 1fr)", most_frequent: "minmax(320px, 4fr)" }}
        />
      </div>
    </div>
  );
}

/** A summary of all match rules in one sentence. */
function rulesSummary(table: TableData): string {
  const sum = (key: string): number =>
    table.rows.reduce((all, _, place) => all + Number(cellOf({ table, place }, key)), 0);
  const rules = counted(sum("rules"), "match rule", "match rules");
  const holders = table.rows.filter((_, place) => Number(cellOf({ table, place }, "rules")) > 0);
  const connections = counted(holders.length, "connection", "connections");
  const duplicates = sum("duplicates");
  const duplicatesText =
    duplicates === 0
      ? "without duplicates"
      : `${counted(duplicates, "of them a duplicate", "of them duplicates")}: duplicates select no further messages but slow down every signal`;
  return `${connections} had ${rules} when they disconnected or the recording ended, ${duplicatesText}.`;
}

/**
 * Calls without a reply, late replies, and replies without a call. Activating a row shows its
 * message.
 */
export function Replies(): JSX.Element {
  const store = useStore();
  const request = useStatistics(() => "replies");
  const messageOf = (row: Row): RowMenu["message"] => {
    const found = rowOf(store, row);
    return found === undefined ? undefined : { row: found, about: SHOW };
  };
  return (
    <AnswerView
      request={request.value}
      empty="Every call that expects a reply has one, and every reply belongs to a call."
    >
      {({ table }) => (
        <SubjectTable
          subject="replies"
          label="Calls without a reply, and replies without a call"
          table={table}
          messageOf={messageOf}
          use={{ label: SHOW, hint: "show the message", run: (row) => show(store, row) }}
          widths={{ member: "minmax(240px, 3fr)" }}
        />
      )}
    </AnswerView>
  );
}

function show(store: Store, row: Row): void {
  const found = rowOf(store, row);
  if (found !== undefined) showMessage(store, found);
}

/** The row of the message whose number, from 1, is in a table row. */
function rowOf(store: Store, row: Row): number | undefined {
  const found = Number(cellOf(row, "number")) - 1;
  return found >= 0 && found < store.recording.peek().length ? found : undefined;
}

const SHOW = "Show the message";
