// Requests findings from the program, once for all components that show them.

import { computed, signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { FindingsAnswer } from "../generated/protocol";
import { Moved } from "../source/source";
import { useStore } from "../state/context";
import type { Store } from "../state/store";
import {
  type Filter,
  type FindingGrouping,
  type FindingName,
  grouped,
  keyOf,
  matchesFilter,
  NO_FILTER,
} from "./model";

/** The state of the findings. The last report stays while a new one is requested. */
export interface Reported {
  readonly report: FindingsAnswer | undefined;
  readonly problem: string | undefined;
  readonly isWaiting: boolean;
}

/**
 * The minimum interval between two reports for a bus in milliseconds, and the minimum ratio of this
 * interval to the duration of a request.
 */
const INTERVAL_MS = 8000;
const INTERVAL_RATIO = 10;

/**
 * The findings of a recording, which are requested once when it is loaded, or of a live bus, which
 * are requested repeatedly.
 */
export class Reporter {
  readonly state = signal<Reported>({ report: undefined, problem: undefined, isWaiting: false });
  /** The finding that the user selected. */
  readonly open = signal<FindingName | undefined>(undefined);
  readonly filter = signal<Filter>(NO_FILTER);
  readonly grouping = signal<FindingGrouping>("severity");
  /** The findings that match the filter, in groups. */
  readonly groups = computed(() => {
    const all = this.state.value.report?.findings ?? [];
    const matching = all.filter((finding) => matchesFilter(finding, this.filter.value));
    return grouped(matching, this.grouping.value);
  });
  /** The findings that match the filter, in one list. */
  readonly shown = computed(() => this.groups.value.flatMap(({ findings }) => findings));
  /** The finding whose details are shown: the selected one, or else the first. */
  readonly opened = computed(() => {
    const open = this.open.value;
    const key = open && keyOf(open);
    const shown = this.shown.value;
    // Findings of two buses can have the same key, so identity is compared first.
    const found = shown.find((one) => one === open) ?? shown.find((one) => keyOf(one) === key);
    return found ?? shown[0];
  });
  /**
   * True if the user or the page requested the findings of a long recording, which takes some time.
   */
  readonly isRequested = signal(false);
  private users = 0;
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly store: Store) {}

  /** Requests findings while any component needs them. Returns a function that ends this need. */
  follow(): () => void {
    if (this.users++ === 0) this.update();
    return () => {
      if (--this.users === 0) clearTimeout(this.timer);
    };
  }

  private update(): void {
    const { state } = this.store.progress.peek();
    const isKnown = this.state.peek().report !== undefined;
    const isLoading = state === "loading" || this.store.recording.peek().length === 0;
    if (isLoading) this.schedule(LOADING_CHECK_MS);
    else if (document.hidden && isKnown) this.schedule(INTERVAL_MS);
    else if (!isKnown || state === "live") void this.ask();
  }

  private schedule(milliseconds: number): void {
    clearTimeout(this.timer);
    if (this.users > 0) this.timer = setTimeout(() => this.update(), milliseconds);
  }

  private async ask(): Promise<void> {
    const before = this.state.peek();
    if (before.isWaiting) return;
    this.state.value = { ...before, isWaiting: true };
    const begin = performance.now();
    const result = await this.answer();
    this.state.value = { report: before.report, problem: undefined, ...result, isWaiting: false };
    this.schedule(Math.max(INTERVAL_MS, (performance.now() - begin) * INTERVAL_RATIO));
  }

  private async answer(): Promise<Partial<Pick<Reported, "report" | "problem">>> {
    try {
      const { before } = this.store.recording.peek();
      const { answer } = await this.store.ask({ ask: "findings" });
      return { report: numbered(answer, before) };
    } catch (error) {
      // Retried later, when the remaining messages are stable.
      if (error instanceof Moved) return {};
      return { problem: error instanceof Error ? error.message : String(error) };
    }
  }
}

/** Adds the number of dropped messages to message numbers, so that they stay the same. */
export function numbered(report: FindingsAnswer, before: number): FindingsAnswer {
  const findings = report.findings.map((finding) => {
    const first = finding.evidence.first.map((number) => number + before);
    return { ...finding, evidence: { ...finding.evidence, first } };
  });
  return { ...report, findings };
}

/** The interval in milliseconds at which a loading recording is checked. */
const LOADING_CHECK_MS = 200;

/** The reporter of a store. */
export function reporterOf(store: Store): Reporter {
  return store.part(Reporter, () => new Reporter(store));
}

/**
 * The reporter of this page. A component that `asks` causes requests; one that `shows` only
 * displays their results.
 */
export function useReporter(need: "asks" | "shows"): Reporter {
  const reporter = reporterOf(useStore());
  useEffect(() => (need === "asks" ? reporter.follow() : undefined), [reporter, need]);
  return reporter;
}
