// The tables of methods and signals: frequencies, durations and sizes.

import { type ReadonlySignal, useComputed } from "@preact/signals";
import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import type { Cell, TableData } from "../generated/protocol";
import { CutText } from "../parts/CutText";
import { share } from "../parts/format";
import type { RenderCell } from "../parts/TableRow";
import { cellOf, type Row, withColumns } from "../parts/table";
import { Histogram } from "./Histogram";
import type { HistogramMeasure, Spread, Spreads } from "./histograms";
import { useStatistics } from "./queries";
import type { RowMenu } from "./rowMenu";
import { AnswerView, SubjectTable } from "./SubjectTable";
import { useSpreads } from "./useSpreads";

/** How often each method was called and each signal was emitted. */
export function Frequencies(): JSX.Element {
  const request = useStatistics(() => "member");
  return (
    <AnswerView request={request.value} empty="No messages are selected.">
      {({ table }) => <FrequencyTable table={table} />}
    </AnswerView>
  );
}

function FrequencyTable({ table }: { readonly table: TableData }): JSX.Element {
  const shown = useMemo(() => withColumns(table, FREQUENCIES), [table]);
  const render = useMemo(() => {
    const most = shown.rows.reduce((sum, row) => Math.max(sum, Number(row[SHARE])), 0);
    const marked = markedBy(shown);
    return (cell: Cell, column: number, place: number) =>
      column === SHARE ? <Meter part={Number(cell)} most={most} /> : marked(cell, column, place);
  }, [shown]);
  return (
    <SubjectTable
      subject="member"
      label="Frequency of each method and signal"
      table={shown}
      render={render}
      widths={{ ...WIDTHS, share: "minmax(120px, 2fr)" }}
      about={ABOUT}
    />
  );
}

/** The durations of each method's calls. */
export function Durations(): JSX.Element {
  const request = useStatistics(() => "member");
  const spreads = useSpreads("durations");
  return (
    <AnswerView request={request.value} empty="No messages are selected.">
      {({ table }) => <DurationTable table={table} spreads={spreads} />}
    </AnswerView>
  );
}

function DurationTable({ table, spreads }: SpreadTableProps): JSX.Element {
  const shown = useMemo(() => withColumns(calls(table), DURATIONS), [table]);
  return (
    <SpreadTable
      subject="member"
      label="Durations of each method's calls"
      measure="durations"
      spreads={spreads}
      table={shown}
      sort="total_ns"
      message="Show the slowest call"
    />
  );
}

/** The sizes of the messages of each method and signal. */
export function Sizes(): JSX.Element {
  const request = useStatistics(() => "member-size");
  const spreads = useSpreads("sizes");
  return (
    <AnswerView request={request.value} empty="No messages are selected.">
      {({ table }) => (
        <SpreadTable
          subject="member-size"
          label="Message sizes of each method and signal"
          measure="sizes"
          spreads={spreads}
          table={table}
          sort="mean_bytes"
          message="Show the largest message"
        />
      )}
    </AnswerView>
  );
}

interface SpreadTableProps {
  readonly table: TableData;
  readonly spreads: ReadonlySignal<Spreads | undefined>;
}

interface MeasuredProps extends SpreadTableProps {
  readonly subject: string;
  readonly label: string;
  readonly measure: HistogramMeasure;
  /** The key of the column that initially sorts the table. */
  readonly sort: string;
  /** The menu label for the message with the largest value. */
  readonly message: string;
}

/** A table with a small histogram in each row. */
function SpreadTable(props: MeasuredProps): JSX.Element {
  const { measure, message } = props;
  const table = useMemo(() => withSpread(props.table), [props.table]);
  const spreads = useComputed(() => props.spreads.value).value;
  const render = useMemo<RenderCell>(() => {
    const marked = markedBy(table);
    return (cell, column, place) =>
      column === SPREAD ? (
        <Histogram spread={spreadOf(spreads, { table, place })} measure={measure} />
      ) : (
        marked(cell, column, place)
      );
  }, [table, spreads]);
  const messageOf = (row: Row): RowMenu["message"] => {
    const spread = spreadOf(spreads, row);
    return spread === undefined ? undefined : { row: spread.largest, about: message };
  };
  return (
    <SubjectTable
      subject={props.subject}
      label={props.label}
      table={table}
      sort={{ column: table.columns.findIndex(({ key }) => key === props.sort), descending: true }}
      render={render}
      messageOf={messageOf}
      widths={{ ...WIDTHS, spread: "minmax(90px, 1fr)" }}
      about={ABOUT}
    />
  );
}

function spreadOf(spreads: Spreads | undefined, row: Row): Spread | undefined {
  const text = (key: string): string => String(cellOf(row, key) ?? "");
  return spreads?.get(text("member"), text("service"), text("type") || "call");
}

/** A bar for a share, relative to the largest share. */
function Meter({ part, most }: { readonly part: number; readonly most: number }): JSX.Element {
  return (
    <span class="meter">
      <span class="meter-bar" style={{ width: `${(part / most) * 100}%` }} />
      <span class="meter-text">{share(part)}</span>
    </span>
  );
}

/** Adds a symbol to members, as Bustle does: a circle for methods and a triangle for signals. */
function markedBy(table: TableData): RenderCell {
  return (cell, column, place) => {
    if (table.columns[column]?.key !== "member") return undefined;
    const type = String(cellOf({ table, place }, "type") ?? "call");
    return (
      <>
        <span class={`member-mark of-${type}`} role="img" aria-label={type}>
          {MARKS[type] ?? "·"}
        </span>
        <CutText text={String(cell ?? "")} reserved={MARK} />
      </>
    );
  };
}

/** The width of the symbol before a member in pixels. */
const MARK = 18;

/** Keeps only the rows of members that were called. */
function calls(table: TableData): TableData {
  const column = table.columns.findIndex(({ key }) => key === "calls");
  return { ...table, rows: table.rows.filter((row) => row[column] != null) };
}

/** Adds a column for the histograms after the names. */
function withSpread(table: TableData): TableData {
  const column = { name: "spread", key: "spread", unit: "text" as const };
  return {
    ...table,
    columns: table.columns.toSpliced(SPREAD, 0, column),
    rows: table.rows.map((row) => row.toSpliced(SPREAD, 0, null)),
  };
}

const FREQUENCIES = [
  "member",
  "service",
  "messages",
  "share",
  "rate_per_s",
  "calls",
  "signals",
  "recipients_mean",
  "peak_recipients",
  "bytes",
  "type",
];
const SHARE = FREQUENCIES.indexOf("share");

/** The index of the column with the histograms. */
const SPREAD = 2;

const DURATIONS = [
  "member",
  "service",
  "calls",
  "p50_ns",
  "p90_ns",
  "p99_ns",
  "max_ns",
  "total_ns",
  "mean_ns",
  "errors",
  "time_outs",
  "callee_left",
  "caller_left",
  "waiting",
  "failed_total_ns",
  "failed_max_ns",
];

const WIDTHS = {
  member: "minmax(210px, 4fr)",
  service: "minmax(110px, 2fr)",
  p50_ns: "74px",
  p90_ns: "74px",
  p99_ns: "74px",
  max_ns: "74px",
  total_ns: "74px",
  mean_ns: "74px",
  type: "64px",
  messages: "84px",
  calls: "64px",
  peak_recipients: "112px",
};

const MARKS: Readonly<Record<string, string>> = {
  call: "○",
  signal: "△",
  return: "↩",
  error: "✕",
};

/** Tooltips of columns by key. */
const ABOUT: Readonly<Record<string, string>> = {
  messages: "Messages: calls and their replies",
  share: "Share of all selected messages",
  recipients_mean: "Mean number of recipients of a broadcast signal",
  peak_recipients: "Maximum number of recipients of a broadcast signal",
  total_ns: "Total time from call to return",
  p50_ns: "Median: half of the calls are faster",
  p90_ns: "9 of 10 calls are faster",
  p99_ns: "99 of 100 calls are faster",
  errors: "Calls that failed with an error; their times are counted separately",
  time_outs: "Calls that the bus answered because the callee had not replied in time",
  callee_left: "Calls that the bus answered because the callee had disconnected",
  unanswered: "Calls without a reply when their caller left or the recording ended",
  caller_left: "Calls whose caller disconnected before a reply arrived",
  waiting: "Calls without a reply when the recording ended",
  failed_total_ns: "Total waiting time of calls that did not return",
  spread: "Histogram of durations or sizes; each bin is 1.8 times as wide as the one before",
};
