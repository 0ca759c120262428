// The received signals of an object, and the visible part of them.

import { computed, signal } from "@preact/signals";
import type { SignalEvent } from "../generated/protocol";

/** A line of the list. */
export interface LogLine {
  /** The number of the signal, counted from 1. */
  readonly number: number;
  readonly event: SignalEvent;
}

/** The most recent signals of an object. */
export class SignalLog {
  private readonly all = signal<readonly LogLine[]>([]);
  /** The visible lines while the list is paused. */
  private readonly held = signal<readonly LogLine[] | undefined>(undefined);
  private count = 0;

  /** The visible lines, newest first. */
  readonly lines = computed(() => this.held.value ?? this.all.value);
  readonly isPaused = computed(() => this.held.value !== undefined);
  /** The number of signals that arrived since the list was paused. */
  readonly unseen = computed(() => {
    const newest = this.all.value[0]?.number ?? 0;
    return newest - (this.lines.value[0]?.number ?? 0);
  });

  /** Adds signals in the order in which they arrived. */
  add(events: readonly SignalEvent[]): void {
    const added = events.map((event) => ({ number: ++this.count, event })).reverse();
    this.all.value = [...added, ...this.all.peek()].slice(0, LINES_MAX);
  }

  /** Pauses the list, or resumes it with the signals that arrived in the meantime. */
  togglePause(): void {
    this.held.value = this.held.peek() === undefined ? this.all.peek() : undefined;
  }

  clear(): void {
    this.count = 0;
    this.all.value = [];
    if (this.held.peek() !== undefined) this.held.value = [];
  }
}

/** The maximum number of lines; older ones are dropped. */
export const LINES_MAX = 300;
