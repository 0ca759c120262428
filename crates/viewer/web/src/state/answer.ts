// Answers of the source, as signals.

import { type Signal, useSignal, useSignalEffect } from "@preact/signals";
import type { Question } from "../generated/protocol";
import { type Answers, Moved } from "../source/source";
import { useStore } from "./context";

/** The state of a question. While it is asked again, the last answer stays. */
export interface Asked<T> {
  readonly answer: T | undefined;
  readonly problem: string | undefined;
  readonly isWaiting: boolean;
}

/**
 * Asks the question that `question` returns, and asks again when a signal that it reads has
 * changed. If it returns undefined, no question is asked.
 */
export function useAnswer<Q extends Question>(
  question: () => Q | undefined,
): Signal<Asked<Answers[Q["ask"]]>> {
  type Answer = Answers[Q["ask"]];
  const store = useStore();
  const asked = useSignal<Asked<Answer>>({
    answer: undefined,
    problem: undefined,
    isWaiting: false,
  });
  useSignalEffect(() => {
    const wanted = question();
    // Rows and times of another recording are meaningless in this one.
    store.recording.value;
    if (wanted === undefined) return;
    const controller = new AbortController();
    const finish = (answer: Answer | undefined, problem: string | undefined): void => {
      if (!controller.signal.aborted) asked.value = { answer, problem, isWaiting: false };
    };
    asked.value = { ...asked.peek(), isWaiting: true };
    store
      .ask(wanted, controller.signal)
      .then(({ answer }) => finish(answer, undefined))
      .catch((error: unknown) => {
        // The question is asked again when the page knows which messages remain.
        if (!(error instanceof Moved)) finish(undefined, message(error));
      });
    return () => controller.abort();
  });
  return asked;
}

function message(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
