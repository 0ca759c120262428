// The slowest calls and the most severe problems, in a few lines. Shown when no message is
// selected.

import { batch, useSignal, useSignalEffect } from "@preact/signals";
import type { ComponentChildren, JSX } from "preact";
import type { Cell, Finding, TableData } from "../generated/protocol";
import { isEverything } from "../page/saveMessages";
import { duration } from "../parts/format";
import { whenIdle } from "../parts/idle";
import { useAnswer } from "../state/answer";
import { useStore } from "../state/context";
import { settledSelection } from "../statistics/queries";
import { costHeadline, keyOf, worst } from "./model";
import { type Reporter, useReporter } from "./report";
import "./findings.css";

/** The maximum number of lines per section. */
const LINES = 3;
/** The idle time in milliseconds before a long recording is checked. */
const IDLE_MS = 1000;
/** The interval in milliseconds at which the slowest calls of a live bus are updated. */
const UPDATE_MS = 5000;

/** The maximum number of messages in a recording that is checked immediately. */
const IMMEDIATE_MAX = 300_000;

/** The slowest calls and the most severe findings. */
export function Headlines(): JSX.Element {
  const store = useStore();
  const reporter = useReporter("shows");
  store.grown.value;
  const isLong = store.recording.value.length > IMMEDIATE_MAX;
  const isKnown = reporter.state.value.report !== undefined;
  useRequestWhenIdle(reporter);
  if (!isLong || isKnown || reporter.isRequested.value) return <Lines />;
  return (
    <div class="headlines">
      <button type="button" class="copy" onClick={() => (reporter.isRequested.value = true)}>
        Find slow calls and problems
      </button>
    </div>
  );
}

/**
 * Requests the findings of a long recording once it is shown and the page is idle. The program
 * computes them in parallel with other requests. A saved page processes requests one at a time, so
 * it does not request them automatically: other requests would wait for seconds.
 */
function useRequestWhenIdle(reporter: Reporter): void {
  const store = useStore();
  useSignalEffect(() => {
    const isShown = store.progress.value.state === "whole" && store.visible.value.rows.length > 0;
    const isLong = store.recording.value.length > IMMEDIATE_MAX;
    if (!isLong || !isShown || store.source.saves === undefined || reporter.isRequested.value)
      return;
    return whenIdle(() => (reporter.isRequested.value = true), IDLE_MS);
  });
}

function Lines(): JSX.Element {
  const { report, problem } = useReporter("asks").state.value;
  const slow = useLongestWaits();
  const isPart = !isEverything(useStore().selection.value);
  return (
    <div class="headlines">
      <Section title="Slowest">
        {slow === undefined && <li>…</li>}
        {slow?.length === 0 && <li>No program waited for a reply.</li>}
        {slow?.map((wait) => (
          <SlowLine key={`${wait.caller} ${wait.member} ${wait.callee}`} wait={wait} />
        ))}
      </Section>
      <Section title={isPart ? "Problems in the whole recording" : "Problems"}>
        {report === undefined && <li>{problem ?? "…"}</li>}
        {report?.findings.length === 0 && <li>No problems found.</li>}
        {worst(report?.findings ?? [], LINES).map((finding) => (
          <ProblemLine key={keyOf(finding)} finding={finding} />
        ))}
      </Section>
    </div>
  );
}

interface HeadlineSectionProps {
  readonly title: string;
  readonly children: ComponentChildren;
}

function Section({ title, children }: HeadlineSectionProps): JSX.Element {
  return (
    <section aria-label={title}>
      <h2>{title}</h2>
      <ol>{children}</ol>
    </section>
  );
}

/** The waits of one caller for one method, added up. */
interface Wait {
  readonly caller: string;
  readonly member: string;
  readonly callee: string;
  readonly calls: number;
  readonly total: number;
  readonly longest: number;
  /** The row of the longest call. */
  readonly row: number;
}

function SlowLine({ wait }: { readonly wait: Wait }): JSX.Element {
  const store = useStore();
  const times = wait.calls === 1 ? "once" : `${wait.calls} times`;
  return (
    <li>
      <button type="button" onClick={() => store.selectMessage(wait.row)}>
        <b class="headline-amount">{duration(wait.total)}</b>
        <span>
          <b>{wait.caller}</b> waited for {wait.callee} <b>{lastPart(wait.member)}</b> {times}
          {wait.calls > 1 && `, at most ${duration(wait.longest)}`}
        </span>
      </button>
    </li>
  );
}

function ProblemLine({ finding }: { readonly finding: Finding }): JSX.Element {
  const store = useStore();
  const reporter = useReporter("shows");
  const show = (): void =>
    batch(() => {
      const first = finding.evidence.first[0];
      if (first !== undefined) store.selectNumber(first);
      reporter.open.value = finding;
      store.view.value = "findings";
    });
  return (
    <li>
      <button type="button" class={`severity-${finding.severity}`} onClick={show}>
        <b class="headline-amount">{costHeadline(finding.cost)}</b>
        <span>
          <b>{finding.who.label}</b> {finding.says}
        </span>
      </button>
    </li>
  );
}

/** The member without its interface: `Search` for `com.example.Archive1.Search`. */
function lastPart(member: string): string {
  return member.slice(member.lastIndexOf(".") + 1);
}

/** The longest waits; undefined until they are known. */
function useLongestWaits(): readonly Wait[] | undefined {
  const store = useStore();
  const updates = useSignal(0);
  const settled = settledSelection(store);
  useSignalEffect(() => {
    if (!store.isLive.value) return;
    const timer = setInterval(() => {
      if (!document.hidden) updates.value++;
    }, UPDATE_MS);
    return () => clearInterval(timer);
  });
  const answer = useAnswer(() => {
    updates.value;
    const isKnown = store.progress.value.state !== "loading";
    const selection = settled.value;
    return isKnown && selection ? { ask: "timeline", ...selection } : undefined;
  });
  return answer.value.answer && waitsOf(answer.value.answer.blocked);
}

/** The first rows of the table of blocked callers. */
function waitsOf({ columns, rows }: TableData): Wait[] {
  const place = new Map(columns.map(({ key }, place) => [key, place]));
  return rows.slice(0, LINES).map((row) => {
    const cell = (key: string): Cell => row[place.get(key) ?? -1] ?? null;
    return {
      caller: String(cell("caller")),
      member: String(cell("blocked_on")),
      callee: String(cell("of")),
      calls: Number(cell("calls")),
      total: Number(cell("total_ns")),
      longest: Number(cell("longest_ns")),
      row: Number(cell("number")) - 1,
    };
  });
}
