// The findings view: problems and recommended fixes.

import type { Signal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import type { Finding, FindingsAnswer, Severity } from "../generated/protocol";
import { useKeys } from "../keys/useKeys";
import { CopyButton } from "../parts/CopyButton";
import { counted } from "../parts/format";
import { useShownWhen } from "../parts/useScrollIntoView";
import { useStore } from "../state/context";
import { FindingDetails } from "./FindingDetails";
import { findingsKeys } from "./findingsKeys";
import {
  costHeadline,
  distinct,
  extentOf,
  type Filter,
  type FindingGrouping,
  GROUPINGS,
  keyOf,
  SEVERITIES,
  SEVERITY_WORDS,
  textOf,
} from "./model";
import { Rules } from "./Rules";
import { type Reporter, useReporter } from "./report";
import "./findings.css";

export function FindingsView(): JSX.Element {
  const reporter = useReporter("asks");
  const { report, problem, isWaiting } = reporter.state.value;
  if (report === undefined) {
    return (
      <p class="empty" role="status">
        {problem ?? "Checking…"}
      </p>
    );
  }
  if (report.findings.length === 0) return <NothingFound report={report} />;
  return <Found report={report} isWaiting={isWaiting} reporter={reporter} />;
}

function NothingFound({ report }: { readonly report: FindingsAnswer }): JSX.Element {
  return (
    <div class="findings-nothing">
      <h2>No problems found</h2>
      <p>{extentOf(report)}</p>
      <Rules rules={report.rules} isOpen={true} />
    </div>
  );
}

interface FoundProps {
  readonly report: FindingsAnswer;
  readonly isWaiting: boolean;
  readonly reporter: Reporter;
}

function Found({ report, isWaiting, reporter }: FoundProps): JSX.Element {
  const store = useStore();
  const { filter, grouping, open } = reporter;
  const groups = reporter.groups.value;
  const shown = reporter.shown.value;
  const opened = reporter.opened.value;
  useKeys("Findings", () => findingsKeys(store, reporter));
  return (
    <div class="findings">
      <Toolbar report={report} filter={filter} grouping={grouping} shown={shown} />
      <div class="findings-body">
        <article class="finding" aria-label="Finding">
          {opened && (
            <FindingDetails
              finding={opened}
              rule={report.rules.find(({ id }) => id === opened.rule)}
            />
          )}
        </article>
        <nav class="findings-list" aria-label="Findings">
          {groups.map((group) => (
            <section key={group.title} aria-label={group.title}>
              <h2>
                {group.title} <small>{group.findings.length}</small>
              </h2>
              {group.findings.map((finding) => (
                <Item
                  key={keyOf(finding)}
                  finding={finding}
                  isOpen={finding === opened}
                  onOpen={() => (open.value = finding)}
                />
              ))}
            </section>
          ))}
          {shown.length === 0 && <p class="empty">No findings match these filters.</p>}
          <p class="findings-extent" role="status">
            {extentOf(report)} {isWaiting && "Checking again…"}
          </p>
          <Rules rules={report.rules} isOpen={false} />
        </nav>
      </div>
    </div>
  );
}

interface ItemProps {
  readonly finding: Finding;
  readonly isOpen: boolean;
  readonly onOpen: () => void;
}

function Item({ finding, isOpen, onOpen }: ItemProps): JSX.Element {
  const item = useShownWhen<HTMLButtonElement>(isOpen);
  // The focus follows the selection if it is in the list of findings.
  useEffect(() => {
    const isInList = document.activeElement?.closest(".findings-list") !== null;
    if (isOpen && isInList) item.current?.focus({ preventScroll: true });
  }, [isOpen]);
  return (
    <button
      type="button"
      ref={item}
      class={`finding-item severity-${finding.severity}`}
      aria-current={isOpen ? "true" : undefined}
      onClick={onOpen}
    >
      <span class="finding-title">{finding.title}</span>
      <span class="finding-cost">{costHeadline(finding.cost)}</span>
      <span class="finding-says">
        <b>{finding.who.label}</b> {finding.says}
      </span>
    </button>
  );
}

interface FindingsToolbarProps {
  readonly report: FindingsAnswer;
  readonly filter: Signal<Filter>;
  readonly grouping: Signal<FindingGrouping>;
  readonly shown: readonly Finding[];
}

function Toolbar({ report, filter, grouping, shown }: FindingsToolbarProps): JSX.Element {
  const { findings } = report;
  const rules = distinct(findings.map(({ rule, title }) => `${rule} ${title}`));
  const change = (part: Partial<Filter>): void => {
    filter.value = { ...filter.value, ...part };
  };
  return (
    <div class="findings-toolbar">
      {SEVERITIES.map((severity) => (
        <SeverityToggle key={severity} severity={severity} findings={findings} filter={filter} />
      ))}
      <Choice
        label="Rule"
        value={rules.find((rule) => rule.startsWith(`${filter.value.rule} `))}
        values={rules}
        onChoose={(rule) => change({ rule: rule?.split(" ")[0] })}
      />
      <Choice
        label="Peer"
        value={filter.value.who}
        values={distinct(findings.map(({ who }) => who.label))}
        onChoose={(who) => change({ who })}
      />
      <label>
        Group by{" "}
        <select
          value={grouping.value}
          onChange={(event) => {
            grouping.value =
              GROUPINGS.find((one) => one === event.currentTarget.value) ?? "severity";
          }}
        >
          {GROUPINGS.map((one) => (
            <option key={one} value={one}>
              {GROUPING_LABELS[one]}
            </option>
          ))}
        </select>
      </label>
      <span class="findings-count">{counted(shown.length, "finding", "findings")}</span>
      <CopyButton label="Copy all as text" text={() => shown.map(textOf).join("\n\n")} />
    </div>
  );
}

const GROUPING_LABELS: Readonly<Record<FindingGrouping, string>> = {
  severity: "severity",
  who: "peer",
  rule: "rule",
};

interface SeverityToggleProps {
  readonly severity: Severity;
  readonly findings: readonly Finding[];
  readonly filter: Signal<Filter>;
}

function SeverityToggle({ severity, findings, filter }: SeverityToggleProps): JSX.Element {
  const number = findings.filter((finding) => finding.severity === severity).length;
  const { without } = filter.value;
  const toggle = (): void => {
    const next = new Set(without);
    if (!next.delete(severity)) next.add(severity);
    filter.value = { ...filter.value, without: next };
  };
  return (
    <button
      type="button"
      class={`severity severity-${severity}`}
      aria-pressed={!without.has(severity)}
      disabled={number === 0}
      onClick={toggle}
    >
      {SEVERITY_WORDS[severity]} {number}
    </button>
  );
}

interface FilterChoiceProps {
  readonly label: string;
  readonly value: string | undefined;
  readonly values: readonly string[];
  readonly onChoose: (value: string | undefined) => void;
}

function Choice({ label, value, values, onChoose }: FilterChoiceProps): JSX.Element {
  const choose = (place: number): void => onChoose(values[place - 1]);
  return (
    <label>
      {label}{" "}
      <select
        value={value === undefined ? 0 : values.indexOf(value) + 1}
        onChange={(event) => choose(Number(event.currentTarget.value))}
      >
        <option value={0}>any</option>
        {values.map((one, place) => (
          <option key={one} value={place + 1}>
            {one}
          </option>
        ))}
      </select>
    </label>
  );
}
