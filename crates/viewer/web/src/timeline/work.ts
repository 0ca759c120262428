// Long work in slices, between which the page handles other events.

import type { PausableWork } from "./sorting";

/** Length of a slice in milliseconds. */
const PIECE = 8;
/** After repeated work, the pause is this many times as long as the work. */
const REST = 1;

/** Runs the newest work in slices, and reports its result. */
export class Worker<T> {
  private next: (() => PausableWork<T>) | undefined;
  private isBusy = false;
  private isStopped = false;

  constructor(private readonly done: (result: T) => void) {}

  /** Starts new work as soon as the current slice has ended. */
  begin(work: () => PausableWork<T>): void {
    this.next = work;
    if (!this.isBusy) void this.run();
  }

  /** Ends the work, whatever its state. */
  stop(): void {
    this.isStopped = true;
  }

  private async run(): Promise<void> {
    this.isBusy = true;
    while (this.next !== undefined && !this.isStopped) {
      const work = this.next();
      this.next = undefined;
      const begin = performance.now();
      const result = await this.finish(work);
      if (this.isStopped) return;
      if (result !== undefined) this.done(result);
      if (this.next !== undefined) await pause((performance.now() - begin) * REST);
    }
    this.isBusy = false;
  }

  private async finish(work: PausableWork<T>): Promise<T | undefined> {
    while (!this.isStopped) {
      const begin = performance.now();
      while (performance.now() - begin < PIECE) {
        const { done, value } = work.next();
        if (done) return value;
      }
      await turn();
    }
    return undefined;
  }
}

/** Lets other waiting events run. Timers would take longer. */
function turn(): Promise<void> {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(undefined);
  });
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
