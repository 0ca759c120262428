// The signals of an object as they come, and of those the ones that are shown.

import { computed, signal } from "@preact/signals";
import type { Heard } from "../generated/protocol";

/** A line of the list. */
export interface LogLine {
  /** Counted from the first one that was heard. */
  readonly number: number;
  readonly heard: Heard;
}

/** The last signals of an object. */
export class SignalLog {
  private readonly all = signal<readonly LogLine[]>([]);
  /** What is shown while nothing new is. */
  private readonly held = signal<readonly LogLine[] | undefined>(undefined);
  private count = 0;

  /** The newest first. */
  readonly lines = computed(() => this.held.value ?? this.all.value);
  readonly isPaused = computed(() => this.held.value !== undefined);
  /** How many came since it is paused. */
  readonly unseen = computed(() => {
    const newest = this.all.value[0]?.number ?? 0;
    return newest - (this.lines.value[0]?.number ?? 0);
  });

  /** Adds signals in the order in which they came. */
  add(heard: readonly Heard[]): void {
    const added = heard.map((one) => ({ number: ++this.count, heard: one })).reverse();
    this.all.value = [...added, ...this.all.peek()].slice(0, LINES_MAX);
  }

  /** Holds what is shown, or shows what has come since. */
  togglePause(): void {
    this.held.value = this.held.peek() === undefined ? this.all.peek() : undefined;
  }

  clear(): void {
    this.count = 0;
    this.all.value = [];
    if (this.held.peek() !== undefined) this.held.value = [];
  }
}

/** Older ones are forgotten. */
export const LINES_MAX = 300;
