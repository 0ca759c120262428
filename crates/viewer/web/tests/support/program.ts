// The program under test.

import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";

const ROOT = resolve(import.meta.dirname, "../../../../..");

/** The program: the build by cargo, unless the environment names another one. */
export const PROGRAM =
  process.env.DILIGENCE_PROGRAM ??
  join(resolve(ROOT, process.env.CARGO_TARGET_DIR ?? "target"), "debug/diligence");

/** A program that runs until it is ended. */
export class Running implements AsyncDisposable {
  private known: string | undefined;

  private constructor(
    private readonly child: ChildProcess,
    /** The line of output that `start` waited for. */
    readonly line: string,
    private readonly lines: AsyncIterator<string>,
  ) {}

  /** Starts the program, and waits for a line of output with this beginning. */
  static async start(
    words: readonly string[],
    beginning: string,
    env: NodeJS.ProcessEnv = process.env,
  ): Promise<Running> {
    const child = spawn(PROGRAM, words, { stdio: ["ignore", "pipe", "inherit"], env });
    // Unread lines are buffered, so that the program never blocks.
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    for (;;) {
      const { done, value } = await lines.next();
      if (done)
        throw new Error(
          `${words.join(" ")} ended without printing a line that begins with ${beginning}`,
        );
      if (value.startsWith(beginning)) return new Running(child, value, lines);
    }
  }

  /** The next line of output. */
  async nextLine(): Promise<string> {
    const { done, value } = await this.lines.next();
    if (done) throw new Error("the program ended before the next line");
    return value;
  }

  /**
   * The cookie of its page. This uses up an address: the first one, or the next if a page has used
   * it.
   */
  async cookie(): Promise<string> {
    if (this.known !== undefined) return this.known;
    const first = await fetch(this.line);
    const response = first.ok ? first : await fetch(await this.nextLine());
    const [cookie = ""] = response.headers.getSetCookie();
    this.known = cookie.split(";")[0] ?? "";
    return this.known;
  }

  /** Stops the process until it is resumed. */
  pause(): void {
    this.child.kill("SIGSTOP");
  }

  resume(): void {
    this.child.kill("SIGCONT");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.child.exitCode !== null) return;
    const ended = once(this.child, "exit");
    this.child.kill("SIGTERM");
    this.resume();
    await ended;
  }
}

/** Runs the program to completion, and returns its output. */
export async function run(...words: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(PROGRAM, words, { maxBuffer: 1 << 30 });
  return stdout;
}

/** Starts the page of recordings or of a bus. */
export function view(...words: string[]): Promise<Running> {
  return Running.start(["view", "--no-open", ...words], "http://");
}

/** Starts a private bus. Its first line of output contains the address. */
export async function privateBus(...words: string[]): Promise<{ bus: Running; address: string }> {
  const variable = "export DBUS_SESSION_BUS_ADDRESS=";
  const bus = await Running.start(["up", ...words], variable);
  return { bus, address: bus.line.slice(variable.length).replaceAll("'", "") };
}

/** Starts a private bus on which the demonstration runs. */
export function demo(): Promise<{ bus: Running; address: string }> {
  return privateBus("--demo");
}
