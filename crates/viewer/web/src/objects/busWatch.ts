// Hears a bus while it is looked at.

import type { Heard, Watched, WatchKind } from "../generated/protocol";
import type { Hearing } from "./bus";
import { sentenceOf } from "./latest";

/** Somebody who wants to hear of a bus. */
export interface Listener {
  /**
   * From here on this is heard. Only now it may be asked for: asked any earlier, what changes between the
   * answer and the first signal that is heard would never be known.
   */
  begun(watched: Watched): void;
  /** This was heard in the last moment, in its order. */
  heard(heard: readonly OneHeard[]): void;
  /** Something is not heard, or nothing any more. */
  unheard(why: string): void;
}

/** What was heard, and by which watch. */
export interface OneHeard {
  readonly of: WatchKind;
  readonly what: Heard;
}

/** Hears a bus by one stream, which turns to whatever is looked at. */
export class Watching {
  private readonly controller = new AbortController();
  /** What the stream hears; undefined before it has begun, and while it is told to turn. */
  private current: Watched | undefined;
  private gathered: OneHeard[] = [];
  /** Whether the stream has ended. */
  private isOver = false;

  constructor(
    private readonly hearing: Hearing,
    private wanted: Watched,
    private readonly listener: Listener,
  ) {
    void this.run();
  }

  /** Watches something else from now on. */
  turnTo(watched: Watched): void {
    this.wanted = watched;
    if (this.isOver) this.listener.begun(watched);
    else this.turn();
  }

  /** Hears nothing any more. */
  end(): void {
    this.controller.abort();
  }

  private async run(): Promise<void> {
    const { signal } = this.controller;
    try {
      for await (const line of this.hearing.lines(this.wanted, signal)) {
        if (signal.aborted) return;
        if ("heard" in line) this.gather(line.heard);
        else if ("begun" in line) this.begin(line.begun);
        else this.listener.unheard(line.unwatched.failure.sentence);
      }
      this.fail(SILENT);
    } catch (error) {
      this.fail(sentenceOf(error));
    }
  }

  private begin(watched: Watched): void {
    this.take();
    this.current = watched;
    if (isSame(watched, this.wanted)) this.listener.begun(watched);
    else this.turn();
  }

  /** One turn after the other: of two that are under way at once, either may be the last. */
  private turn(): void {
    if (this.current === undefined || isSame(this.current, this.wanted)) return;
    this.current = undefined;
    this.hearing.turn(this.wanted).catch((error: unknown) => this.fail(sentenceOf(error)));
  }

  private gather(heard: OneHeard): void {
    if (this.gathered.push(heard) === 1) setTimeout(() => this.take(), GATHER_MS);
  }

  private take(): void {
    const heard = this.gathered;
    this.gathered = [];
    if (heard.length > 0 && !this.controller.signal.aborted) this.listener.heard(heard);
  }

  private fail(why: string): void {
    if (this.controller.signal.aborted) return;
    this.isOver = true;
    this.listener.unheard(why);
    // Without being kept up to date it can still be asked.
    if (this.current === undefined) this.listener.begun(this.wanted);
  }
}

function isSame(one: Watched, other: Watched): boolean {
  return one.service === other.service && one.path === other.path;
}

const SILENT = "the bus is not heard any more: ask again to see changes";

/** What comes within this time is shown together. */
const GATHER_MS = 50;
