// What the linter found: how it is read, sorted out and said.

import { bytes, count, counted, duration } from "../parts/format";

/** What is told of findings: `crates/analyst/src/answers/findings.rs`. */
export interface Report {
  readonly messages: number;
  readonly connections: number;
  readonly span_ns: number;
  readonly findings: readonly Finding[];
  readonly rules: readonly Rule[];
}

/** From the worst. */
export const SEVERITIES = ["high", "med", "low", "info"] as const;
export type Severity = (typeof SEVERITIES)[number];

export interface Finding {
  /** The number of its rule: `L07`. */
  readonly rule: string;
  readonly title: string;
  readonly severity: Severity;
  readonly confidence: "high" | "medium" | "low";
  readonly who: Who;
  readonly subject: string;
  readonly says: string;
  readonly advice: string;
  readonly cost: Cost;
  /** The parts of its cost in one measure. */
  readonly cost_ns: number;
  readonly evidence: Evidence;
  /** Selects all messages that it is about; empty if there is none that does. */
  readonly query: string;
  /** The command that shows whether a change has helped. */
  readonly check?: string;
}

interface Who {
  readonly label: string;
  readonly stable: string;
  readonly process?: string;
  readonly unit?: string;
}

interface Cost {
  readonly waited_ns: number;
  readonly calls: number;
  readonly wake_ups: number;
  readonly bytes: number;
}

interface Evidence {
  /** Numbers of the first messages, from 1 and with those that are gone. */
  readonly first: readonly number[];
  readonly count: number;
}

export interface Rule {
  readonly id: string;
  readonly title: string;
  readonly severity: Severity;
  readonly needs: string;
  readonly meaning: string;
  readonly thresholds: readonly string[];
  readonly advice: string;
}

export const SEVERITY_WORDS: Readonly<Record<Severity, string>> = {
  high: "High",
  med: "Medium",
  low: "Low",
  info: "To know",
};

/** Which findings are wanted. Undefined is any. */
export interface Filter {
  readonly without: ReadonlySet<Severity>;
  readonly rule: string | undefined;
  readonly who: string | undefined;
}

export const NO_FILTER: Filter = { without: new Set(), rule: undefined, who: undefined };

/** Findings that belong together. */
export interface Group {
  readonly title: string;
  readonly findings: readonly Finding[];
}

export const GROUPINGS = ["severity", "who", "rule"] as const;
export type Grouping = (typeof GROUPINGS)[number];

/** What a finding is known by. */
export interface FindingName {
  readonly rule: string;
  readonly who: Pick<Who, "label">;
  readonly subject: string;
}

/** What stays the same when findings are asked for again. */
export function keyOf({ rule, who, subject }: FindingName): string {
  return JSON.stringify([rule, who.label, subject]);
}

export function isWanted(finding: Finding, filter: Filter): boolean {
  return (
    !filter.without.has(finding.severity) &&
    (filter.rule === undefined || filter.rule === finding.rule) &&
    (filter.who === undefined || filter.who === finding.who.label)
  );
}

/**
 * Findings in groups, those first that matter most: by how severe they are, or as they come, which is
 * by what they cost.
 */
export function grouped(findings: readonly Finding[], grouping: Grouping): Group[] {
  const groups = new Map<string, Finding[]>();
  if (grouping === "severity") {
    for (const severity of SEVERITIES) groups.set(SEVERITY_WORDS[severity], []);
  }
  for (const finding of findings) {
    const title = groupOf(finding, grouping);
    const group = groups.get(title);
    if (group === undefined) groups.set(title, [finding]);
    else group.push(finding);
  }
  const all = [...groups].map(([title, findings]) => ({ title, findings }));
  return all.filter(({ findings }) => findings.length > 0);
}

function groupOf(finding: Finding, grouping: Grouping): string {
  if (grouping === "severity") return SEVERITY_WORDS[finding.severity];
  return grouping === "who" ? finding.who.label : `${finding.rule} ${finding.title}`;
}

/**
 * The worst few, of as many rules as there are. That a recording is incomplete is no fault of its
 * programs.
 */
export function worst(findings: readonly Finding[], most: number): Finding[] {
  const wrong = findings.filter(({ severity }) => severity !== "info");
  const isFirst = (one: Finding, place: number): boolean =>
    wrong.findIndex(({ rule }) => rule === one.rule) === place;
  const first = wrong.filter(isFirst);
  return [...first, ...wrong.filter((one) => !first.includes(one))].slice(0, most);
}

/** The parts of a cost that are not nothing, in words. */
export function costWords(cost: Cost): string[] {
  const parts = [
    cost.waited_ns > 0 && `${duration(cost.waited_ns)} waited`,
    cost.calls > 0 && counted(cost.calls, "call", "calls"),
    cost.wake_ups > 0 && counted(cost.wake_ups, "wake-up", "wake-ups"),
    cost.bytes > 0 && bytes(cost.bytes),
  ];
  return parts.filter((part) => part !== false);
}

/** Who it is, with what is known of its process. */
export function whoWords({ label, process, unit }: Who): string {
  return [label, process, unit].filter((text) => text !== undefined).join(", ");
}

/** A finding for a message to somebody. */
export function textOf(finding: Finding): string {
  const cost = costWords(finding.cost);
  const { first } = finding.evidence;
  const lines = [
    `${finding.rule} ${finding.title} (${finding.severity}, confidence ${finding.confidence})`,
    `${whoWords(finding.who)} ${finding.says}`,
    cost.length > 0 && `Costs ${cost.join(", ")}.`,
    first.length > 0 &&
      `See ${counted(finding.evidence.count, "message", "messages")}, first ${first.join(", ")}.`,
    `What to do: ${finding.advice}`,
    finding.check && `Check: ${finding.check}`,
  ];
  return lines.filter((line) => typeof line === "string" && line !== "").join("\n");
}

/** What was looked at, in a sentence. */
export function extentOf({ rules, messages, connections, span_ns }: Report): string {
  const what = `${counted(messages, "message", "messages")} of ${counted(connections, "connection", "connections")}`;
  return `${count(rules.length)} rules looked at ${what} in ${duration(span_ns)}.`;
}

/** The values there are, each once, in the order of texts. */
export function distinct(values: readonly string[]): string[] {
  return [...new Set(values)].sort();
}
