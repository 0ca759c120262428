// What is slow and what is wrong, in a few lines, for those who have just opened the page.

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

/** Lines of each kind. */
const LINES = 3;
/** Milliseconds after which a long recording that is shown is looked through. */
const REST = 1000;
/** How often it is asked again what is slow on a bus: milliseconds. */
const AGAIN = 5000;

/** Messages of a recording from which on it is not looked through at once. */
const AT_ONCE_MAX = 300_000;

/** The worst of what was waited for, and of what was found. */
export function Headlines(): JSX.Element {
  const store = useStore();
  const reporter = useReporter("shows");
  store.grown.value;
  const isLong = store.recording.value.length > AT_ONCE_MAX;
  const isKnown = reporter.state.value.report !== undefined;
  useAskedAtRest(reporter);
  if (!isLong || isKnown || reporter.isWanted.value) return <Lines />;
  return (
    <div class="headlines">
      <button type="button" class="copy" onClick={() => (reporter.isWanted.value = true)}>
        Find what is slow and what is wrong
      </button>
    </div>
  );
}

/**
 * Has a long recording looked through once it is shown and the page is idle. The program does that beside
 * all else that it is asked. A saved page does not: there what is asked waits for what was asked before,
 * and would for seconds.
 */
function useAskedAtRest(reporter: Reporter): void {
  const store = useStore();
  useSignalEffect(() => {
    const isShown = store.progress.value.state === "whole" && store.visible.value.rows.length > 0;
    const isLong = store.recording.value.length > AT_ONCE_MAX;
    if (!isLong || !isShown || store.source.saves === undefined || reporter.isWanted.value) return;
    return whenIdle(() => (reporter.isWanted.value = true), REST);
  });
}

function Lines(): JSX.Element {
  const { report, problem } = useReporter("asks").state.value;
  const slow = useSlow();
  const isPart = !isEverything(useStore().selection.value);
  return (
    <div class="headlines">
      <Section title="What is slow">
        {slow === undefined && <li>…</li>}
        {slow?.length === 0 && <li>No program waited for a reply.</li>}
        {slow?.map((wait) => (
          <SlowLine key={`${wait.caller} ${wait.member} ${wait.callee}`} wait={wait} />
        ))}
      </Section>
      <Section title={isPart ? "What is wrong, in the whole recording" : "What is wrong"}>
        {report === undefined && <li>{problem ?? "…"}</li>}
        {report?.findings.length === 0 && <li>No problems found.</li>}
        {worst(report?.findings ?? [], LINES).map((finding) => (
          <WrongLine key={keyOf(finding)} finding={finding} />
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

/** What somebody waited for, all times together. */
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

function WrongLine({ finding }: { readonly finding: Finding }): JSX.Element {
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

/** `Search` of `com.example.Archive1.Search`. */
function lastPart(member: string): string {
  return member.slice(member.lastIndexOf(".") + 1);
}

/** Who waited longest; undefined until that is known. */
function useSlow(): readonly Wait[] | undefined {
  const store = useStore();
  const turn = useSignal(0);
  const settled = settledSelection(store);
  useSignalEffect(() => {
    if (!store.isLive.value) return;
    const timer = setInterval(() => {
      if (!document.hidden) turn.value++;
    }, AGAIN);
    return () => clearInterval(timer);
  });
  const asked = useAnswer(() => {
    turn.value;
    const isKnown = store.progress.value.state !== "loading";
    const selection = settled.value;
    return isKnown && selection ? { ask: "timeline", ...selection } : undefined;
  });
  return asked.value.answer && waitsOf(asked.value.answer.blocked);
}

/** The first rows of the table of who was blocked on what. */
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
