// Tables below the tracks with times in numbers. Each row has a link to its message.

import { type Signal, useSignal, useSignalEffect } from "@preact/signals";
import type { ComponentChildren, JSX } from "preact";
import { useMemo } from "preact/hooks";
import type { Question, TableData } from "../generated/protocol";
import { DataTable } from "../parts/DataTable";
import { withColumns } from "../parts/table";
import type { Answers } from "../source/source";
import { type Asked, useAnswer } from "../state/answer";
import { useStore } from "../state/context";
import type { StoreSelection } from "../state/store";
import { callsIn } from "./calls";
import { StartUps } from "./StartUps";

const TABS = [
  {
    name: "blocked",
    title: "Blocked on",
    about: "Processes blocked waiting for a reply",
  },
  { name: "slowest", title: "Slowest calls", about: "The calls with the longest duration" },
  { name: "members", title: "By member", about: "Methods and signals in the visible range" },
  {
    name: "shares",
    title: "Bus overhead",
    about: "Share of the duration of calls that is spent in the bus",
  },
  {
    name: "starts",
    title: "Service starts",
    about: "How services started, and the replies they waited for",
  },
  {
    name: "failed_starts",
    title: "Failed starts",
    about: "Services that did not start, and the service that caused it",
  },
  { name: "calls", title: "List", about: "Messages in the visible range" },
] as const;
type PaneTabName = (typeof TABS)[number]["name"];

/** Figures are requested after this many milliseconds without a change. */
const SETTLE = 250;

export function Pane(): JSX.Element {
  const tab = useSignal<PaneTabName | undefined>("blocked");
  const settled = useSettled();
  return (
    <section
      class={`timeline-pane${tab.value === undefined ? " closed" : ""}`}
      aria-label="Numbers"
    >
      <div class="timeline-tabs" role="tablist">
        {TABS.map(({ name, title, about }) => (
          <button
            key={name}
            type="button"
            role="tab"
            class="tab"
            title={about}
            aria-selected={tab.value === name}
            onClick={() => (tab.value = tab.value === name ? undefined : name)}
          >
            {title}
          </button>
        ))}
      </div>
      {tab.value !== undefined && (
        <div class="timeline-pane-body" role="tabpanel">
          <Body tab={tab.value} settled={settled} />
        </div>
      )}
    </section>
  );
}

/** The selection, once it has stopped changing. */
function useSettled(): Signal<StoreSelection> {
  const store = useStore();
  const settled = useSignal(store.selection.peek());
  useSignalEffect(() => {
    const selection = store.selection.value;
    const timer = setTimeout(() => (settled.value = selection), SETTLE);
    return () => clearTimeout(timer);
  });
  return settled;
}

interface BodyProps {
  readonly tab: PaneTabName;
  readonly settled: Signal<StoreSelection>;
}

function Body({ tab, settled }: BodyProps): JSX.Element {
  if (tab === "members") return <Members settled={settled} />;
  if (tab === "calls") return <Calls settled={settled} />;
  return <Times tab={tab} settled={settled} />;
}

interface TimesProps {
  readonly tab: Exclude<PaneTabName, "members" | "calls">;
  readonly settled: Signal<StoreSelection>;
}

/** Interval of requests for figures of a running bus, in milliseconds. */
const AGAIN = 3000;

function useAsked<Q extends Question>(
  question: (selection: StoreSelection) => Q,
  settled: Signal<StoreSelection>,
): Signal<Asked<Answers[Q["ask"]]>> {
  const store = useStore();
  const turn = useSignal(0);
  useSignalEffect(() => {
    if (!store.isLive.value) return;
    const timer = setInterval(() => {
      if (!document.hidden && store.progress.peek().state === "live") turn.value++;
    }, AGAIN);
    return () => clearInterval(timer);
  });
  return useAnswer(() => {
    turn.value;
    return store.recording.value.length === 0 && store.grown.value === 0
      ? undefined
      : question(settled.value);
  });
}

function Times({ tab, settled }: TimesProps): JSX.Element {
  const asked = useAsked((selection) => ({ ask: "timeline" as const, ...selection }), settled);
  return (
    <Answered asked={asked.value}>
      {(answer) => {
        if (tab === "starts") return <StartUps startUps={answer.start_ups} />;
        return <TimeTable tab={tab} table={answer[tab]} />;
      }}
    </Answered>
  );
}

interface TimeTableProps {
  readonly tab: keyof typeof NOTHING;
  readonly table: TableData | null;
}

function TimeTable({ tab, table }: TimeTableProps): JSX.Element {
  const isTraced = useStore().recording.value.buses.some(({ method }) => method === "trace");
  if (table !== null) return <MessageTable table={table} label={tab} nothing={NOTHING[tab]} />;
  return <Nothing>{isTraced ? NOTHING[tab] : NOT_TRACED}</Nothing>;
}

const NOT_TRACED =
  "The bus overhead is unknown: this recording was made by a monitor, not by the bus itself.";

const NOTHING = {
  blocked: "No process waited for a reply in the visible range.",
  slowest: "No call was answered in the visible range.",
  shares: "No call was answered in the visible range.",
  failed_starts: "No service failed to start during the recording.",
} as const;

function Members({ settled }: { readonly settled: Signal<StoreSelection> }): JSX.Element {
  const asked = useAsked(
    (selection) => ({ ask: "statistics" as const, subject: "member", ...selection }),
    settled,
  );
  return (
    <Answered asked={asked.value}>
      {(answer) => (
        <MessageTable
          table={withColumns(answer.table, MEMBER_KEYS)}
          label="By member"
          nothing="There are no messages in the visible range."
        />
      )}
    </Answered>
  );
}

function Calls({ settled }: { readonly settled: Signal<StoreSelection> }): JSX.Element {
  const store = useStore();
  const { from, until } = settled.value;
  const table = callsIn(store.recording.value, store.visible.value, from, until);
  return (
    <MessageTable
      table={table}
      label="Messages"
      nothing="There are no messages in the visible range."
    />
  );
}

interface PaneAnswerProps<T> {
  readonly asked: Asked<T>;
  readonly children: (answer: T) => JSX.Element;
}

function Answered<T>({ asked, children }: PaneAnswerProps<T>): JSX.Element {
  if (asked.problem !== undefined) return <Nothing>{asked.problem}</Nothing>;
  if (asked.answer === undefined) return <Nothing>…</Nothing>;
  return (
    <div class={asked.isWaiting ? "timeline-asked waiting" : "timeline-asked"}>
      {children(asked.answer)}
    </div>
  );
}

function Nothing({ children }: { readonly children: ComponentChildren }): JSX.Element {
  return <p class="empty">{children}</p>;
}

interface MessageTableProps {
  readonly table: TableData;
  readonly label: string;
  readonly nothing: string;
}

/** Keys of columns with message numbers, from 1. */
const NUMBER_KEYS = ["number", "worst", "message"];

function MessageTable({ table, label, nothing }: MessageTableProps): JSX.Element {
  const store = useStore();
  const shown = useMemo(() => withoutBars(table), [table]);
  if (table.rows.length === 0) return <Nothing>{nothing}</Nothing>;
  const number = table.columns.findIndex(({ key }) => NUMBER_KEYS.includes(key));
  const rowOf = (place: number): number => Number(table.rows[place]?.[number]) - 1;
  const selected = store.selected.value;
  const marked = table.rows.findIndex((_, place) => rowOf(place) === selected);
  return (
    <DataTable
      table={shown}
      label={label}
      widths={table.columns.some(({ key }) => key === "route_call") ? SHARE_WIDTHS : WIDTHS}
      marked={number >= 0 && marked >= 0 ? marked : undefined}
      {...(number >= 0 && { onChoose: (place: number) => store.selectMessage(rowOf(place)) })}
    />
  );
}

const WIDTHS: Readonly<Record<string, string>> = {
  number: "72px",
  caller: "minmax(100px, 2fr)",
  blocked_on: "minmax(150px, 3fr)",
  call: "minmax(150px, 3fr)",
  of: "minmax(100px, 2fr)",
  answer: "minmax(60px, 1fr)",
  member: "minmax(150px, 3fr)",
  service: "minmax(100px, 2fr)",
  parties: "minmax(160px, 3fr)",
  because_of: "minmax(100px, 2fr)",
  calls: "60px",
  waited_ns: "84px",
  wanted_by: "minmax(100px, 2fr)",
  why: "minmax(200px, 5fr)",
  type: "64px",
  kind: "64px",
};

/** Widths of the phases of a call. */
const SHARE_WIDTHS: Readonly<Record<string, string>> = {
  route_call: "92px",
  send_call: "92px",
  service: "92px",
  route_reply: "92px",
  send_reply: "92px",
};

/** Removes bars made of characters, which are for terminals. */
function withoutBars(table: TableData): TableData {
  const keys = table.columns.map(({ key }) => key);
  return withColumns(
    table,
    keys.filter((key) => key !== "bar"),
  );
}

/** Columns about members in this view. The statistics view has more. */
const MEMBER_KEYS: readonly string[] = [
  "member",
  "service",
  "type",
  "messages",
  "share",
  "bytes",
  "p50_ns",
  "p99_ns",
  "max_ns",
  "total_ns",
  "errors",
];
