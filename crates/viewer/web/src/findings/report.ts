// Asks for findings, for all that show them.

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
  isWanted,
  keyOf,
  NO_FILTER,
} from "./model";

/** What is known of findings. While they are asked for again, the last ones stay. */
export interface Reported {
  readonly report: FindingsAnswer | undefined;
  readonly problem: string | undefined;
  readonly isWaiting: boolean;
}

/** Milliseconds between two answers about a bus, and how many times as long as an answer takes. */
const AGAIN = 8000;
const REST = 10;

/** Findings of one recording: asked for once when it is whole, and from time to time of a bus. */
export class Reporter {
  readonly state = signal<Reported>({ report: undefined, problem: undefined, isWaiting: false });
  /** The name of the finding that was opened. */
  readonly open = signal<FindingName | undefined>(undefined);
  readonly filter = signal<Filter>(NO_FILTER);
  readonly grouping = signal<FindingGrouping>("severity");
  /** The findings that are shown, in their groups. */
  readonly groups = computed(() => {
    const all = this.state.value.report?.findings ?? [];
    const wanted = all.filter((finding) => isWanted(finding, this.filter.value));
    return grouped(wanted, this.grouping.value);
  });
  /** The same in one list. */
  readonly shown = computed(() => this.groups.value.flatMap(({ findings }) => findings));
  /** The finding that is shown with its details: the first one unless another is open. */
  readonly opened = computed(() => {
    const open = this.open.value;
    const key = open && keyOf(open);
    const shown = this.shown.value;
    // Two buses may have findings of one name; one that was opened here is itself.
    const found = shown.find((one) => one === open) ?? shown.find((one) => keyOf(one) === key);
    return found ?? shown[0];
  });
  /** Whether somebody wants to know although it takes a while. */
  readonly isWanted = signal(false);
  private users = 0;
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly store: Store) {}

  /** Follows the recording for as long as somebody wants to know; gives what ends that. */
  follow(): () => void {
    if (this.users++ === 0) this.turn();
    return () => {
      if (--this.users === 0) clearTimeout(this.timer);
    };
  }

  private turn(): void {
    const { state } = this.store.progress.peek();
    const isKnown = this.state.peek().report !== undefined;
    const isLoading = state === "loading" || this.store.recording.peek().length === 0;
    if (isLoading) this.again(LOOK_AGAIN);
    else if (document.hidden && isKnown) this.again(AGAIN);
    else if (!isKnown || state === "live") void this.ask();
  }

  private again(milliseconds: number): void {
    clearTimeout(this.timer);
    if (this.users > 0) this.timer = setTimeout(() => this.turn(), milliseconds);
  }

  private async ask(): Promise<void> {
    const before = this.state.peek();
    if (before.isWaiting) return;
    this.state.value = { ...before, isWaiting: true };
    const begin = performance.now();
    const told = await this.answer();
    this.state.value = { report: before.report, problem: undefined, ...told, isWaiting: false };
    this.again(Math.max(AGAIN, (performance.now() - begin) * REST));
  }

  private async answer(): Promise<Partial<Pick<Reported, "report" | "problem">>> {
    try {
      const { before } = this.store.recording.peek();
      const { answer } = await this.store.ask({ ask: "findings" });
      return { report: numbered(answer, before) };
    } catch (error) {
      // It is asked again in a while, of what is left.
      if (error instanceof Moved) return {};
      return { problem: error instanceof Error ? error.message : String(error) };
    }
  }
}

/** With numbers of messages that stay the same when the oldest ones are gone. */
export function numbered(report: FindingsAnswer, before: number): FindingsAnswer {
  const findings = report.findings.map((finding) => {
    const first = finding.evidence.first.map((number) => number + before);
    return { ...finding, evidence: { ...finding.evidence, first } };
  });
  return { ...report, findings };
}

/** Milliseconds after which it is looked again whether a recording is whole. */
const LOOK_AGAIN = 200;

/** What finds out what is wrong in this store. */
export function reporterOf(store: Store): Reporter {
  return store.part(Reporter, () => new Reporter(store));
}

/** What finds out what is wrong, for those who ask for it, or show what others have asked for. */
export function useReporter(need: "asks" | "shows"): Reporter {
  const reporter = reporterOf(useStore());
  useEffect(() => (need === "asks" ? reporter.follow() : undefined), [reporter, need]);
  return reporter;
}
