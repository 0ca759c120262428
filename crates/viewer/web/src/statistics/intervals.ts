// Traffic over time as a table.

import { Kind } from "../model/recording";
import { KINDS, spread, type Traffic, totalOf } from "../overview/traffic";
import type { TableData } from "../parts/table";
import type { Span } from "../state/store";

/** The messages of each of some equal parts of a stretch of time, as a table; parts without any are left out. */
export function intervalTable(traffic: Traffic, span: Span, parts: number): TableData {
  const columns = spread(traffic, span.from, span.until, parts);
  const length = (span.until - span.from) / parts;
  const number = (part: number, kind: Kind): number =>
    Math.round(columns[part * KINDS + kind] as number);
  const row = (part: number) => {
    const total = totalOf(columns, part);
    return [
      span.from + part * length,
      Math.round(total),
      total / (length / 1e9),
      number(part, Kind.Call),
      number(part, Kind.Return),
      number(part, Kind.Error),
      number(part, Kind.Signal),
    ];
  };
  const filled = Array.from({ length: parts }, (_, part) => part).filter(
    (part) => Math.round(totalOf(columns, part)) > 0,
  );
  return { columns: COLUMNS, rows: filled.map(row) };
}

const COLUMNS: TableData["columns"] = [
  { name: "from", key: "from_ns", unit: "time" },
  { name: "messages", key: "messages", unit: "count" },
  { name: "rate", key: "rate_per_s", unit: "rate" },
  { name: "calls", key: "calls", unit: "count" },
  { name: "returns", key: "returns", unit: "count" },
  { name: "errors", key: "errors", unit: "count" },
  { name: "signals", key: "signals", unit: "count" },
];
