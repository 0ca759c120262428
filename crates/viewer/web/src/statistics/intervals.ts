// Traffic over time as a table.

import type { TableData } from "../generated/protocol";
import { Kind } from "../model/recording";
import { KINDS, spread, type Traffic, totalOf } from "../overview/traffic";
import type { Span } from "../state/store";

/** A time range in equal intervals. */
export interface Intervals {
  /** One row for each interval that contains messages. */
  readonly table: TableData;
  /** The length of an interval in nanoseconds. */
  readonly length: number;
}

/**
 * Divides a time range into at most `parts` intervals. Each consists of whole buckets of the
 * traffic.
 */
export function intervalsOf(traffic: Traffic, span: Span, parts: number): Intervals {
  const { width } = traffic;
  const start = Math.floor(span.from / width) * width;
  const length = Math.max(1, Math.ceil((span.until - start) / parts / width)) * width;
  const count = Math.max(1, Math.ceil((span.until - start) / length));
  const columns = spread(traffic, start, start + count * length, count);
  const rows = Array.from({ length: count }, (_, part) => rowOf(columns, part, start, length));
  return {
    table: { columns: COLUMNS, rows: rows.filter((row) => row[TOTAL] > 0), notes: [] },
    length,
  };
}

function rowOf(columns: Float64Array, part: number, start: number, length: number): IntervalRow {
  const number = (kind: Kind): number => Math.round(columns[part * KINDS + kind] as number);
  const total = Math.round(totalOf(columns, part));
  const types = [number(Kind.Call), number(Kind.Return), number(Kind.Error), number(Kind.Signal)];
  return [start + part * length, total, total / (length / 1e9), ...types];
}

type IntervalRow = [from: number, total: number, rate: number, ...types: number[]];

const TOTAL = 1;

const COLUMNS: TableData["columns"] = [
  { name: "from", key: "from_ns", unit: "time" },
  { name: "messages", key: "messages", unit: "count" },
  { name: "rate", key: "rate_per_s", unit: "rate" },
  { name: "calls", key: "calls", unit: "count" },
  { name: "returns", key: "returns", unit: "count" },
  { name: "errors", key: "errors", unit: "count" },
  { name: "signals", key: "signals", unit: "count" },
];
