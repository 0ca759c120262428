// Long work in pieces, between which the page goes on.

import type { PausableWork } from "./sorting";

/** Milliseconds of one piece. */
const PIECE = 8;
/** Work that is begun again and again rests this many times as long as it takes. */
const REST = 1;

/** Does the newest of the work that it is given, piece by piece, and tells the result. */
export class Worker<T> {
  private next: (() => PausableWork<T>) | undefined;
  private isBusy = false;
  private isStopped = false;

  constructor(private readonly done: (result: T) => void) {}

  /** Begins with some work as soon as what is being done is done. */
  begin(work: () => PausableWork<T>): void {
    this.next = work;
    if (!this.isBusy) void this.run();
  }

  /** Ends it, whatever is left to do. */
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

/** Lets all else that waits have its turn; timers would take longer for it. */
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
