// Suggestions while the user types.

import { type Signal, useSignal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import type { Completions } from "../generated/protocol";
import { useStore } from "../state/context";
import type { Store } from "../state/store";
import { bytesBefore, hasNews, type Written } from "./completion";

/** Suggestions with the active one. */
export interface Offered extends Completions {
  /** The index of the active suggestion; -1 for none. */
  readonly marked: number;
}

/** Requests suggestions, and displays the result of the last request. */
export interface Completing {
  readonly offered: Signal<Offered | undefined>;
  suggest(written: Written): void;
  mark(step: 1 | -1): void;
  close(): void;
}

export function useCompletion(): Completing {
  const store = useStore();
  const offered = useSignal<Offered | undefined>(undefined);
  const completing = useMemo(() => new CompletionController(store, offered), [store, offered]);
  useEffect(() => () => completing.close(), [completing]);
  return completing;
}

class CompletionController implements Completing {
  private controller: AbortController | undefined;
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly store: Store,
    readonly offered: Signal<Offered | undefined>,
  ) {}

  suggest(written: Written): void {
    this.stop();
    this.timer = setTimeout(() => void this.ask(written), TYPING_MS);
  }

  mark(step: 1 | -1): void {
    const offered = this.offered.peek();
    if (offered === undefined) return;
    const count = offered.offers.length;
    const from = offered.marked === -1 && step === -1 ? 0 : offered.marked;
    this.offered.value = { ...offered, marked: (from + step + count) % count };
  }

  close(): void {
    this.stop();
    this.offered.value = undefined;
  }

  private stop(): void {
    clearTimeout(this.timer);
    this.controller?.abort();
  }

  private async ask(written: Written): Promise<void> {
    const controller = new AbortController();
    this.controller = controller;
    const question = {
      ask: "complete",
      query: written.text,
      cursor: bytesBefore(written),
    } as const;
    try {
      const { answer } = await this.store.ask(question, controller.signal);
      if (controller.signal.aborted) return;
      this.offered.value = hasNews(written.text, answer) ? { ...answer, marked: -1 } : undefined;
    } catch {
      // Without suggestions the user continues to type. Errors of the query are displayed
      // elsewhere.
      if (!controller.signal.aborted) this.offered.value = undefined;
    }
  }
}

/** Suggestions are requested after this many milliseconds without typing. */
const TYPING_MS = 60;
