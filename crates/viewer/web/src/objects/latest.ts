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
  /** Changes that were heard of while it is asked. */
  private meanwhile: ((value: T) => T)[] = [];

  get state(): ReadonlySignal<Loaded<T>> {
    return this.loaded;
  }

  /**
   * Waits for an answer. Changes and answers come on different ways: one that was heard of meanwhile may be
   * newer than the answer, so it is made there too. If it is older, the one that has made the answer what
   * it is will still be heard of.
   */
  async load(answer: Promise<T>): Promise<T | undefined> {
    const turn = ++this.turn;
    this.meanwhile = [];
    this.loaded.value = { ...this.loaded.peek(), isWaiting: true };
    try {
      const told = await answer;
      if (turn !== this.turn) return undefined;
      const value = this.meanwhile.reduce<T>((value, change) => change(value), told);
      this.loaded.value = { value, problem: undefined, isWaiting: false };
      return value;
    } catch (error) {
      const problem = sentenceOf(error);
      if (turn === this.turn) this.loaded.value = { value: undefined, problem, isWaiting: false };
      return undefined;
    }
  }

  /** Has another value from now on, made from the one that was told. */
  change(change: (value: T) => T): void {
    const { value, isWaiting } = this.loaded.peek();
    if (isWaiting) this.meanwhile.push(change);
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
