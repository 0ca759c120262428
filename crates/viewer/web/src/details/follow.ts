// Incremental work that resumes when there is more to do.

/** Work that can grow at any time. */
export interface GrowingWork {
  /** True if there is more to do. */
  readonly isBehind: boolean;
  /** Processes at most this amount of work. */
  advance(amount: number): void;
}

/**
 * Does the work in parts, so that the page stays responsive, and calls `onDone` when it is caught
 * up.
 */
export class Follower {
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly work: GrowingWork,
    private readonly onDone: () => void,
  ) {}

  /** Resumes the work: immediately, or after a pause if it was caught up recently. */
  wake(): void {
    if (this.timer === undefined) this.step();
  }

  stop(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
  }

  private step(): void {
    this.timer = undefined;
    if (!this.work.isBehind) return;
    this.work.advance(PART);
    if (!this.work.isBehind) this.onDone();
    this.timer = setTimeout(() => this.step(), this.work.isBehind ? 0 : PAUSE_MS);
  }
}

/** The number of messages per part, which takes a few milliseconds. */
const PART = 50_000;
/** The pause after the work is caught up. */
const PAUSE_MS = 1000;
