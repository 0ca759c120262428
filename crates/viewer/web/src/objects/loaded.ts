// Something that is asked for, again and again.

import { type ReadonlySignal, signal } from "@preact/signals";

/** What has become of a question. While it is asked again, the last answer stays. */
export interface Loaded<T> {
  readonly value: T | undefined;
  readonly problem: string | undefined;
  readonly isWaiting: boolean;
}

/** What was told last. Of questions that overtake each other the one that was asked last counts. */
export class Latest<T> {
  private readonly loaded = signal<Loaded<T>>(EMPTY);
  private turn = 0;

  get state(): ReadonlySignal<Loaded<T>> {
    return this.loaded;
  }

  /** Waits for an answer. */
  async load(answer: Promise<T>): Promise<T | undefined> {
    const turn = ++this.turn;
    this.loaded.value = { ...this.loaded.peek(), isWaiting: true };
    try {
      const value = await answer;
      if (turn === this.turn) this.loaded.value = { value, problem: undefined, isWaiting: false };
      return turn === this.turn ? value : undefined;
    } catch (error) {
      const problem = sentenceOf(error);
      if (turn === this.turn) this.loaded.value = { value: undefined, problem, isWaiting: false };
      return undefined;
    }
  }

  /** Has another value from now on, made from the one that was told. */
  change(change: (value: T) => T): void {
    const { value } = this.loaded.peek();
    if (value !== undefined) this.loaded.value = { ...this.loaded.peek(), value: change(value) };
  }

  /** Forgets what was told; what is still asked is of no interest any more. */
  clear(): void {
    this.turn++;
    this.loaded.value = EMPTY;
  }
}

/** What went wrong, as a sentence. */
export function sentenceOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

const EMPTY = { value: undefined, problem: undefined, isWaiting: false };
