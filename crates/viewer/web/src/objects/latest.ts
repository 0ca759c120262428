// A value that is loaded repeatedly.

import { type ReadonlySignal, signal } from "@preact/signals";

/** The state of a request. The previous value stays while the request is repeated. */
export interface Loaded<T> {
  readonly value: T | undefined;
  readonly problem: string | undefined;
  readonly isWaiting: boolean;
}

/** The latest value. If several requests overlap, only the answer to the last one counts. */
export class Latest<T> {
  private readonly loaded = signal<Loaded<T>>(EMPTY);
  private requests = 0;
  /** Changes that arrived while a request is pending. */
  private meanwhile: ((value: T) => T)[] = [];

  get state(): ReadonlySignal<Loaded<T>> {
    return this.loaded;
  }

  /**
   * Waits for an answer. Events and answers arrive independently. A change that arrives during the
   * request can be newer than the answer, so it is applied to the answer, too. If it is older, the
   * event for the newer change is still to come.
   */
  async load(answer: Promise<T>): Promise<T | undefined> {
    const request = ++this.requests;
    this.meanwhile = [];
    this.loaded.value = { ...this.loaded.peek(), isWaiting: true };
    try {
      const loaded = await answer;
      if (request !== this.requests) return undefined;
      const value = this.meanwhile.reduce<T>((value, change) => change(value), loaded);
      this.loaded.value = { value, problem: undefined, isWaiting: false };
      return value;
    } catch (error) {
      const problem = sentenceOf(error);
      if (request === this.requests)
        this.loaded.value = { value: undefined, problem, isWaiting: false };
      return undefined;
    }
  }

  /** Applies a change to the current value and to the pending answer. */
  change(change: (value: T) => T): void {
    const { value, isWaiting } = this.loaded.peek();
    if (isWaiting) this.meanwhile.push(change);
    if (value !== undefined) this.loaded.value = { ...this.loaded.peek(), value: change(value) };
  }

  /** Forgets the value and ignores pending answers. */
  clear(): void {
    this.requests++;
    this.loaded.value = EMPTY;
  }
}

/** The message of an error. */
export function sentenceOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

const EMPTY = { value: undefined, problem: undefined, isWaiting: false };
