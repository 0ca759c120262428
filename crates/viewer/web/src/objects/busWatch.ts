// Receives events of the bus while the objects view is open.

import type { SignalEvent, Watched, WatchKind } from "../generated/protocol";
import type { BusSubscription } from "./bus";
import { sentenceOf } from "./latest";

/** Receives the events of a {@link BusWatcher}. */
export interface WatchListener {
  /**
   * The watch now covers this scope. Requests must wait for this event: a change between an earlier
   * answer and the start of the watch would be missed.
   */
  onBegin(watched: Watched): void;
  /** These events arrived within {@link GATHER_MS}, in this order. */
  onEvents(events: readonly WatchedEvent[]): void;
  /** A part of the scope, or everything, can no longer be watched. */
  onFailure(reason: string): void;
}

/** An event and the watch that reported it. */
export interface WatchedEvent {
  readonly of: WatchKind;
  readonly what: SignalEvent;
}

/** Watches the bus over one stream, whose scope follows the user's selection. */
export class BusWatcher {
  private readonly controller = new AbortController();
  /** The scope of the stream; undefined before it begins and while a change is pending. */
  private current: Watched | undefined;
  private pending: WatchedEvent[] = [];
  /** True if the stream has ended. */
  private isOver = false;

  constructor(
    private readonly subscription: BusSubscription,
    private requested: Watched,
    private readonly listener: WatchListener,
  ) {
    void this.run();
  }

  /** Changes the scope to watch. */
  changeTo(watched: Watched): void {
    this.requested = watched;
    if (this.isOver) this.listener.onBegin(watched);
    else this.applyScope();
  }

  /** Stops the watch permanently. */
  end(): void {
    this.controller.abort();
  }

  private async run(): Promise<void> {
    const { signal } = this.controller;
    try {
      for await (const line of this.subscription.lines(this.requested, signal)) {
        if (signal.aborted) return;
        if ("heard" in line) this.gather(line.heard);
        else if ("begun" in line) this.begin(line.begun);
        else this.listener.onFailure(line.unwatched.failure.sentence);
      }
      this.fail(WATCH_ENDED);
    } catch (error) {
      this.fail(sentenceOf(error));
    }
  }

  private begin(watched: Watched): void {
    this.deliver();
    this.current = watched;
    if (isSame(watched, this.requested)) this.listener.onBegin(watched);
    else this.applyScope();
  }

  /** Requests one change at a time: if two were pending, either could take effect last. */
  private applyScope(): void {
    if (this.current === undefined || isSame(this.current, this.requested)) return;
    this.current = undefined;
    this.subscription
      .change(this.requested)
      .catch((error: unknown) => this.fail(sentenceOf(error)));
  }

  private gather(event: WatchedEvent): void {
    if (this.pending.push(event) === 1) setTimeout(() => this.deliver(), GATHER_MS);
  }

  private deliver(): void {
    const events = this.pending;
    this.pending = [];
    if (events.length > 0 && !this.controller.signal.aborted) this.listener.onEvents(events);
  }

  private fail(reason: string): void {
    if (this.controller.signal.aborted) return;
    this.isOver = true;
    this.listener.onFailure(reason);
    // Requests still work without events, so the listener can load its data.
    if (this.current === undefined) this.listener.onBegin(this.requested);
  }
}

function isSame(one: Watched, other: Watched): boolean {
  return one.service === other.service && one.path === other.path;
}

const WATCH_ENDED = "Stopped receiving signals from the bus. Reload to see changes.";

/** Events that arrive within this time are delivered together. */
const GATHER_MS = 50;
