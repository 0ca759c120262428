// Charts of message sizes, waiting time by size, and recipients of signals.

import type { JSX } from "preact";
import type { Cell, TableData } from "../generated/protocol";
import { inSlices } from "../overview/slices";
import { bytes, count, duration, share } from "../parts/format";
import { cellOf } from "../parts/table";
import { addTerm } from "../query/terms";
import { useStore } from "../state/context";
import { type ChartColumn, ColumnChart } from "./ColumnChart";
import { restingRows, useFound, useStatistics } from "./queries";
import { AnswerView, SubjectTable } from "./SubjectTable";
import { SizeTimes } from "./sizeTimes";

export function Figures(): JSX.Element {
  const sizes = useStatistics(() => "size");
  const recipients = useStatistics(() => "recipients");
  return (
    <div class="figures">
      <AnswerView request={sizes.value} empty="No messages are selected.">
        {({ table }) => <SizeFigures table={table} />}
      </AnswerView>
      <section class="figure-with-table">
        <AnswerView request={recipients.value} empty="No broadcast signals are selected.">
          {({ table }) => <RecipientsFigure table={table} />}
        </AnswerView>
      </section>
    </div>
  );
}

/** Charts by size class: number of messages, waiting time and bytes. */
function SizeFigures({ table }: { readonly table: TableData }): JSX.Element {
  const store = useStore();
  const classes = table.rows.map((_, place) => sizeClass(table, place));
  const times = useTimes(table);
  const columns = (value: (place: number) => number, shown: (value: number) => string) =>
    classes.map(({ name, term }, place): ChartColumn => {
      const found = value(place);
      return { name, value: found, shown: shown(found), onChoose: () => addTerm(store, term) };
    });
  const most = classes[mostOf(table, "share")];
  const part = cellOf({ table, place: mostOf(table, "share") }, "share");
  return (
    <>
      <ColumnChart
        title="Messages by size"
        about={`${share(Number(part))} of messages are ${most?.name} bytes.`}
        axis="message size in bytes"
        columns={columns((place) => Number(cellOf({ table, place }, "messages")), count)}
      />
      <ColumnChart
        title="Time by size"
        about="Total waiting time, by the larger of call and reply."
        axis="message size in bytes"
        columns={columns((place) => times?.[place] ?? 0, duration)}
      />
      <ColumnChart
        title="Bytes by size"
        about="Total bytes on the wire, by message size."
        axis="message size in bytes"
        columns={columns((place) => Number(cellOf({ table, place }, "bytes")), bytes)}
      />
    </>
  );
}

/** The waiting time of each size class, computed from the visible messages. */
function useTimes(table: TableData): Float64Array | undefined {
  const store = useStore();
  const ends = table.rows.map((_, place) => Number(cellOf({ table, place }, "to")));
  const found = useFound(async (abort) => {
    const rows = restingRows(store);
    const recording = store.recording.peek();
    const times = new SizeTimes(ends, store.span.peek());
    const isWhole = await inSlices(
      rows.length,
      (from, to) => {
        for (let at = from; at < to; at++) times.add(recording, rows[at] as number);
      },
      abort,
    );
    return isWhole ? times.totals : undefined;
  });
  return found.value;
}

function RecipientsFigure({ table }: { readonly table: TableData }): JSX.Element {
  const number = (place: number, key: string): number => Number(cellOf({ table, place }, key));
  const columns = table.rows.map((_, place): ChartColumn => {
    const signals = number(place, "signals");
    return { name: count(number(place, "recipients")), value: signals, shown: count(signals) };
  });
  const unreceived = table.rows.findIndex((_, place) => number(place, "recipients") === 0);
  const about =
    unreceived < 0
      ? "Number of connections that receive each broadcast signal."
      : `${share(number(unreceived, "share"))} of broadcast signals reach no connection.`;
  return (
    <>
      <ColumnChart
        title="Recipients of signals"
        about={about}
        axis="connections that receive a copy"
        columns={columns}
      />
      <div class="small-table">
        <SubjectTable subject="recipients" label="Signals by number of recipients" table={table} />
      </div>
    </>
  );
}

interface SizeClass {
  readonly name: string;
  readonly term: string;
}

function sizeClass(table: TableData, place: number): SizeClass {
  const [from, to] = [cellOf({ table, place }, "from"), cellOf({ table, place }, "to")];
  return {
    name: `${short(from)}–${short(to)}`,
    term: `size>=${from} size<=${to}`,
  };
}

/** A bound of a size class, in thousands or millions if it is large. */
function short(bound: Cell): string {
  const size = Number(bound);
  if (size < 10_000) return count(size);
  return size < 10_000_000 ? `${count(size / 1000)}k` : `${count(size / 1e6)}M`;
}

function mostOf(table: TableData, key: string): number {
  let most = 0;
  for (let place = 0; place < table.rows.length; place++) {
    const [one, other] = [cellOf({ table, place }, key), cellOf({ table, place: most }, key)];
    if (Number(one) > Number(other)) most = place;
  }
  return most;
}
