// Queries that select the messages of a table row.

import type { Recording } from "../model/recording";
import { cellOf, type Row } from "../parts/table";
import { type Field, quoted, term } from "../query/terms";

/** The query for a row of the table with this subject; undefined if no query is equivalent. */
export function termOfRow(recording: Recording, subject: string, row: Row): string | undefined {
  const terms = TERMS[subject]?.(row, recording);
  if (terms === undefined || terms.includes(undefined)) return undefined;
  return terms.join(" ");
}

type Terms = readonly (string | undefined)[];

/** The terms of a row, by the name of its table. */
const TERMS: Readonly<Record<string, (row: Row, recording: Recording) => Terms>> = {
  member: memberTerms,
  "member-size": (row, recording) => [...typed(row), ...memberTerms(row, recording)],
  dispatch: (row, recording) => [...typed(row), ...memberTerms(row, recording)],
  compare: memberTerms,
  service: (row, recording) => [named(recording, "name", row, "service")],
  interface: (row) => [valued("interface", row, "interface")],
  path: (row) => [valued("path", row, "path")],
  sender: (row, recording) => [named(recording, "from", row, "sender")],
  process: (row) => [processTerm(textOf(row, "process"))],
  unit: (row) => [valued("unit", row, "unit")],
  pair: (row, recording) => [
    named(recording, "from", row, "from"),
    textOf(row, "to") === ALL ? "type:signal" : named(recording, "to", row, "to"),
  ],
  type: typed,
  error: (row) => ["type:error", valued("error", row, "error")],
  size: (row) => [`size>=${cellOf(row, "from")}`, `size<=${cellOf(row, "to")}`],
  rules: (row, recording) => [named(recording, "name", row, "connection")],
  replies: (row) => [`number:${cellOf(row, "number")}`],
};

function memberTerms(row: Row, recording: Recording): Terms {
  const full = textOf(row, "member");
  if (full.startsWith("(")) return [undefined];
  const dot = full.lastIndexOf(".");
  const member = term("member", full.slice(dot + 1));
  const service = named(recording, "name", row, "service");
  const terms = dot < 0 ? [member] : [term("interface", full.slice(0, dot)), member];
  return service === undefined ? terms : [...terms, service];
}

function typed(row: Row): Terms {
  return [valued("type", row, "type")];
}

/** The term for a connection, which tables show by its label. */
function named(recording: Recording, field: Field, row: Row, key: string): string | undefined {
  const label = textOf(row, key);
  const peer = recording.peers.find((one) => one?.label === label);
  const name = peer?.names[0] ?? peer?.unique ?? label;
  return name.startsWith("(") || name === "" ? undefined : `${field}:${quoted(name)}`;
}

/** The term for a process, which tables show as its program and number. */
function processTerm(label: string): string | undefined {
  const pid = /\[(\d+)\]$/.exec(label)?.[1];
  return pid === undefined ? undefined : `pid:${pid}`;
}

function valued(field: Field, row: Row, key: string): string | undefined {
  const text = textOf(row, key);
  return text === "" || text.startsWith("(") ? undefined : term(field, text);
}

function textOf(row: Row, key: string): string {
  return String(cellOf(row, key) ?? "");
}

/** The text in tables for all connections together. */
const ALL = "(all)";
