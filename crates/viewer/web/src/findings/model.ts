// Findings of the linter: filters, groups and texts.

import type { Cost, Finding, FindingParty, FindingsAnswer, Severity } from "../generated/protocol";
import { bytes, count, counted, duration } from "../parts/format";

/** All severities, the highest first. */
export const SEVERITIES = ["high", "med", "low", "info"] as const satisfies readonly Severity[];

export const SEVERITY_WORDS: Readonly<Record<Severity, string>> = {
  high: "High",
  med: "Medium",
  low: "Low",
  info: "Info",
};

/** A filter for findings. Undefined accepts any value. */
export interface Filter {
  readonly without: ReadonlySet<Severity>;
  readonly rule: string | undefined;
  readonly who: string | undefined;
}

export const NO_FILTER: Filter = { without: new Set(), rule: undefined, who: undefined };

/** Findings with a common title. */
export interface FindingGroup {
  readonly title: string;
  readonly findings: readonly Finding[];
}

export const GROUPINGS = ["severity", "who", "rule"] as const;
export type FindingGrouping = (typeof GROUPINGS)[number];

/** The properties that identify a finding. */
export interface FindingName {
  readonly rule: string;
  readonly who: Pick<FindingParty, "label">;
  readonly subject: string;
}

/** A key that stays the same when the linter runs again. */
export function keyOf({ rule, who, subject }: FindingName): string {
  return JSON.stringify([rule, who.label, subject]);
}

export function matchesFilter(finding: Finding, filter: Filter): boolean {
  return (
    !filter.without.has(finding.severity) &&
    (filter.rule === undefined || filter.rule === finding.rule) &&
    (filter.who === undefined || filter.who === finding.who.label)
  );
}

/**
 * Groups findings. Groups, and the findings in them, keep the order of the report, which is the
 * order of `diligence lint`: an incomplete recording first, then by severity, then by cost.
 */
export function grouped(findings: readonly Finding[], grouping: FindingGrouping): FindingGroup[] {
  const groups = new Map<string, Finding[]>();
  for (const finding of findings) {
    const title = groupOf(finding, grouping);
    const group = groups.get(title);
    if (group === undefined) groups.set(title, [finding]);
    else group.push(finding);
  }
  return [...groups].map(([title, findings]) => ({ title, findings }));
}

function groupOf(finding: Finding, grouping: FindingGrouping): string {
  if (grouping === "severity") {
    return finding.rule === INCOMPLETE ? "Recording" : SEVERITY_WORDS[finding.severity];
  }
  return grouping === "who" ? finding.who.label : `${finding.rule} ${finding.title}`;
}

/** The rule for incomplete recordings. */
const INCOMPLETE = "L50";

/**
 * The most severe findings, from as many different rules as possible, in the order of the report.
 */
export function worst(findings: readonly Finding[], most: number): Finding[] {
  const problems = findings.filter(({ severity }) => severity !== "info");
  const isFirst = (one: Finding, place: number): boolean =>
    problems.findIndex(({ rule }) => rule === one.rule) === place;
  const first = problems.filter(isFirst);
  const chosen = [...first, ...problems.filter((one) => !first.includes(one))].slice(0, most);
  return problems.filter((one) => chosen.includes(one));
}

/** The nonzero parts of a cost, in words. */
export function costWords(cost: Cost): string[] {
  const parts = [
    cost.waited_ns > 0 && waitWords(cost),
    cost.calls > 0 && counted(cost.calls, "call", "calls"),
    cost.wake_ups > 0 && counted(cost.wake_ups, "wake-up", "wake-ups"),
    cost.bytes > 0 && bytes(cost.bytes),
  ];
  return parts.filter((part) => part !== false);
}

/**
 * States that several waits were added up, because the sum can exceed the length of the recording.
 */
function waitWords({ waited_ns, waits, longest_wait_ns }: Cost): string {
  const waited = `${duration(waited_ns)} waited`;
  if (waits <= 1) return waited;
  const most = longest_wait_ns > 0 ? ` of at most ${duration(longest_wait_ns)}` : "";
  return `${waited}, added up over ${counted(waits, "wait", "waits")}${most}`;
}

/** The first part of a cost in short form. For several waits, this is the longest one. */
export function costHeadline(cost: Cost): string {
  if (cost.waits > 1 && cost.longest_wait_ns > 0) {
    return `up to ${duration(cost.longest_wait_ns)} waited`;
  }
  return costWords({ ...cost, waits: Math.min(cost.waits, 1) })[0] ?? "";
}

/** A peer with its process and unit, if they are known. */
export function partyWords({ label, process, unit }: FindingParty): string {
  return [label, process, unit].filter((text) => text !== undefined).join(", ");
}

/** A finding as text, for example for a bug report. */
export function textOf(finding: Finding): string {
  const cost = costWords(finding.cost);
  const { first } = finding.evidence;
  const lines = [
    `${finding.rule} ${finding.title} (${finding.severity}, confidence ${finding.confidence})`,
    `${partyWords(finding.who)} ${finding.says}`,
    cost.length > 0 && `Costs ${cost.join(", ")}.`,
    first.length > 0 &&
      `See ${counted(finding.evidence.count, "message", "messages")}, first ${first.join(", ")}.`,
    `Advice: ${finding.advice}`,
    finding.check && `Check: ${finding.check}`,
  ];
  return lines.filter((line) => typeof line === "string" && line !== "").join("\n");
}

/** The extent of the check, as a sentence. */
export function extentOf({ rules, messages, connections, span_ns }: FindingsAnswer): string {
  const extent = `${duration(span_ns)} recorded, ${counted(connections, "connection", "connections")}`;
  return `${count(rules.length)} rules checked ${counted(messages, "message", "messages")} (${extent}).`;
}

/** The distinct values, sorted. */
export function distinct(values: readonly string[]): string[] {
  return [...new Set(values)].sort();
}
