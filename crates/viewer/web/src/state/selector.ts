// Asks which messages are displayed, one question at a time.

import type { Question } from "../generated/protocol";
import type { Answered } from "../source/source";

/** The query and the recording that it applies to. */
export interface SelectionRequest {
  readonly query: string;
  readonly hidden: readonly number[];
  /** The recording whose rows are requested. Rows of another one are meaningless. */
  readonly of: object;
}

/** Asks a question about the selected messages. */
type Ask = (
  question: Extract<Question, { readonly ask: "select" }>,
  abort: AbortSignal,
) => Promise<Answered<"select">>;

/** Called with the result or the error. */
type SelectionListener = (found: Answered<"select"> | Error) => void;

/**
 * Asks which messages are selected. A new query aborts the question that is running. If the same
 * query is asked again because there are more messages, it waits for the running question, so that
 * it gets answers on a busy bus. Then it waits as long as the answer took, so that half of the time
 * is left for other work.
 */
export class Selector {
  private asked: SelectionRequest | undefined;
  private controller: AbortController | undefined;
  private rest: ReturnType<typeof setTimeout> | undefined;
  private again: (() => void) | undefined;

  constructor(private readonly ask: Ask) {}

  select(wanted: SelectionRequest, listener: SelectionListener): void {
    const isBusy = this.controller !== undefined || this.rest !== undefined;
    if (isBusy && isSame(this.asked, wanted)) {
      this.again = () => this.start(wanted, listener);
      return;
    }
    this.controller?.abort();
    this.start(wanted, listener);
  }

  private start(wanted: SelectionRequest, listener: SelectionListener): void {
    const controller = new AbortController();
    const started = performance.now();
    this.asked = wanted;
    this.controller = controller;
    this.again = undefined;
    this.stopRest();
    const { query, hidden } = wanted;
    const finish = (found: Answered<"select"> | Error): void => {
      if (controller.signal.aborted) return;
      this.controller = undefined;
      this.rest = setTimeout(() => this.goOn(), performance.now() - started);
      listener(found);
    };
    this.ask({ ask: "select", query, hidden }, controller.signal).then(finish, (error: unknown) =>
      finish(error instanceof Error ? error : new Error(String(error))),
    );
  }

  private goOn(): void {
    this.stopRest();
    this.again?.();
  }

  private stopRest(): void {
    clearTimeout(this.rest);
    this.rest = undefined;
  }
}

function isSame(one: SelectionRequest | undefined, other: SelectionRequest): boolean {
  if (one === undefined || one.query !== other.query || one.of !== other.of) return false;
  const { hidden } = other;
  return one.hidden.length === hidden.length && one.hidden.every((id, at) => id === hidden[at]);
}
