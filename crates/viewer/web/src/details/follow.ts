// Work that is done in small parts, and again when there is more of it.

/** Work that may have more to do at any time. */
export interface GrowingWork {
  /** Whether there is something to do. */
  readonly isBehind: boolean;
  /** Does no more than so much of it. */
  advance(amount: number): void;
}

/** Does the work in parts, so that the page stays quick, and tells when it is done. */
export class Follower {
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly work: GrowingWork,
    private readonly told: () => void,
  ) {}

  /** There may be more to do; it is begun now, or if there was some just now, soon. */
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
    if (!this.work.isBehind) this.told();
    this.timer = setTimeout(() => this.step(), this.work.isBehind ? 0 : PAUSE_MS);
  }
}

/** Messages that are looked at in one go; it takes a few milliseconds. */
const PART = 50_000;
/** So long nothing is done after all was. */
const PAUSE_MS = 1000;
