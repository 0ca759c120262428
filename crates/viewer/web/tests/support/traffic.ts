// Traffic on a bus at a given rate.

import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { PROGRAM } from "./program";

/** Signals of `size` bytes in bursts. */
export interface Bursts {
  readonly bursts: number;
  readonly perBurst: number;
  readonly pauseMicros: number;
  readonly size: number;
}

/** A program that connects to a bus and emits signals on request. */
export class Emitter implements AsyncDisposable {
  private constructor(
    private readonly child: ChildProcess,
    private readonly lines: AsyncIterator<string>,
  ) {}

  /** Connects without sending signals. */
  static async join(address: string, traffic: Bursts): Promise<Emitter> {
    const part = {
      endpoint: { bus: address },
      destination: "",
      content: { bytes: { size: traffic.size, stamps: "off" } },
      bursts: traffic.bursts,
      per_burst: traffic.perBurst,
      pause_us: traffic.pauseMicros,
    };
    const words = ["bench-peer", JSON.stringify(["emitter", part])];
    const child = spawn(PROGRAM, words, { stdio: ["pipe", "pipe", "inherit"] });
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    await lines.next();
    return new Emitter(child, lines);
  }

  /** Emits all signals, and returns their number and rate. */
  async emit(): Promise<{ sent: number; perSecond: number }> {
    const begun = performance.now();
    this.child.stdin?.write("\n");
    const { value } = await this.lines.next();
    const { report } = JSON.parse(String(value)) as { report: { sent: number } };
    const { sent } = report;
    return { sent, perSecond: Math.round((sent * 1000) / (performance.now() - begun)) };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.child.exitCode !== null) return;
    const ended = new Promise((resolve) => this.child.once("exit", resolve));
    this.child.kill("SIGTERM");
    await ended;
  }
}
