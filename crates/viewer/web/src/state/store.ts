// The state that all parts of the page share: the recording, the displayed messages, and the
// selection.

import { batch, computed, effect, signal } from "@preact/signals";
import { type Frame, type HeadOf, isOf } from "../format/frame";
import type { Question } from "../generated/protocol";
import { type MessagesFrame, Recording } from "../model/recording";
import type { Answered, Answers, Source } from "../source/source";
import { DISCONNECTED, Disconnected, Moved, Refusal } from "../source/source";
import type { Comparison } from "./comparison";
import { type Missing, NOTHING_MISSING } from "./missing";
import { PageState } from "./page";
import { Selector } from "./selector";
import { KnownTypes } from "./types";
import { movedTo } from "./viewFocus";
import type { ViewName } from "./views";
import { shownIn, type Visible, visibleAfter, visibleOf } from "./visible";

/** The part of a selection that the page always sets. */
export interface StoreSelection {
  readonly query: string;
  /** Connections whose messages are hidden. */
  readonly hidden: readonly number[];
  /** The start of the time range, in nanoseconds since the first message. */
  readonly from: number | undefined;
  readonly until: number | undefined;
}

/** The loading state of the recording. */
export type Progress =
  | { readonly state: "loading" }
  | { readonly state: "whole" }
  | { readonly state: "live" }
  | { readonly state: "ended"; readonly why: string }
  /** The program that serves the page has stopped. */
  | { readonly state: "disconnected"; readonly why: string }
  | { readonly state: "failed"; readonly why: string };

/**
 * The allowed actions on a bus: none, because there is only a recording; reading; or also calling.
 */
export type BusAccess = "none" | "look" | "call";

/** The error in the query that was entered last. */
export interface QueryProblem {
  readonly message: string;
  readonly column: number | undefined;
  /** True if more text at the end of the query may make it valid. */
  readonly isUnfinished: boolean;
}

/** The state of the page. Its methods change it, and its signals report changes. */
export class Store {
  /** The displayed recording; replaced when older messages are dropped. */
  readonly recording = signal(new Recording());
  /** Changes when the recording has grown. */
  readonly grown = signal(0);
  readonly title = signal("");
  readonly isLive = signal(false);
  readonly progress = signal<Progress>({ state: "loading" });
  /** The reasons why the recording is incomplete; undefined while that is unknown. */
  readonly incomplete = signal<readonly string[] | undefined>(undefined);
  /** The messages of a bus that are missing. */
  readonly missing = signal<Missing>(NOTHING_MISSING);
  /** The allowed actions on the bus, if the page shows a running bus. */
  readonly bus = signal<BusAccess>("none");

  /** The types of values that answers contained. */
  readonly types = new KnownTypes();
  readonly page = new PageState();

  readonly view = signal<ViewName>("sequence");
  /** The options of the comparison of two recordings. */
  readonly comparison = signal<Comparison>({ tab: "differences", alignment: "start" });
  /** The query that selects messages: the last valid one. */
  readonly query = signal("");
  /** The query as entered, valid or not. */
  readonly draft = signal("");
  /** The query that was requested last, valid or not. */
  private readonly wanted = signal("");
  /** The query that was refused last. The one before it remains in effect. */
  private readonly refused = signal<string | undefined>(undefined);
  readonly queryProblem = signal<QueryProblem | undefined>(undefined);
  /** The reason why the query matches no message, if it matches none. */
  readonly queryNote = signal<string | undefined>(undefined);
  /**
   * The number of messages that a query can select, and the note about hidden messages of the
   * recorder.
   */
  readonly total = signal(0);
  readonly recorderNote = signal<string | undefined>(undefined);
  /** True while messages of an earlier query are displayed because the answer takes long. */
  readonly isBusy = signal(false);
  /** True if new messages of a running bus are held back. */
  readonly isPaused = signal(false);
  /** Number of messages that are held back. */
  readonly held = signal(0);
  /** Messages that the search has found. The other messages stay visible. */
  readonly hits = signal<Hits | undefined>(undefined);
  /** Unchecked connections: their columns and all their messages are hidden. */
  readonly hidden = signal<ReadonlySet<number>>(new Set());
  /** The selected time range, in nanoseconds since the first message. */
  readonly span = signal<Span | undefined>(undefined);
  /** The row of the selected message. */
  readonly selected = signal<number | undefined>(undefined);
  /** The displayed messages: by query and services, without the time range. */
  readonly visible = signal<Visible>(visibleOf(0));

  /** The rows of the displayed messages: by query, services and time range. */
  readonly shown = computed<Uint32Array>(() => {
    this.grown.value;
    return shownIn(this.recording.value, this.visible.value.rows, this.span.value);
  });

  /** Query and hidden services in the form of questions. All figures refer to them. */
  readonly selection = computed<StoreSelection>(() => {
    const hidden = [...this.hidden.value];
    const span = this.span.value;
    // The program knows messages that arrived since the page was paused.
    const end = this.isPaused.value ? this.recording.value.end + 1 : undefined;
    const until = span?.until ?? end;
    return { query: this.query.value, hidden, from: span?.from, until };
  });

  private readonly parts = new Map<unknown, object>();
  private readonly selector = new Selector((question, abort) => this.ask(question, abort));
  /** The recording that is being sent again after the oldest messages were dropped. */
  private next: Recording | undefined;
  /** Growth of a recording that is being loaded is not reported before this time. */
  private toldUntil = 0;
  private typing: ReturnType<typeof setTimeout> | undefined;
  private readonly frames = new HeldFrames();
  private busy: ReturnType<typeof setTimeout> | undefined;
  /** The query and the services that were answered last. */
  private answered = "";

  constructor(readonly source: Source) {
    effect(() => this.select());
  }

  /**
   * The state of a part of the page. It is created on first use, and kept while other views are
   * displayed.
   */
  part<T extends object>(type: abstract new (...made: never[]) => T, make: () => T): T {
    const known = this.parts.get(type);
    if (known instanceof type) return known;
    const made = make();
    this.parts.set(type, made);
    return made;
  }

  /** Loads the recording until its end. */
  async load(): Promise<void> {
    try {
      for await (const frame of this.source.frames()) this.receive(frame);
      const { state } = this.progress.peek();
      if (state === "loading" || (state === "live" && !this.isPaused.peek())) this.disconnect();
    } catch (error) {
      if (error instanceof Disconnected) this.disconnect();
      else this.progress.value = { state: "failed", why: String(error) };
    }
  }

  /** Pauses or resumes the display of new messages of a running bus. */
  togglePause(): void {
    this.isPaused.value = !this.isPaused.peek();
    if (this.isPaused.peek()) return;
    batch(() => {
      for (const frame of this.frames.release()) this.take(frame);
      this.held.value = 0;
    });
  }

  private disconnect(): void {
    this.progress.value = { state: "disconnected", why: DISCONNECTED };
  }

  private receive(frame: Frame): void {
    if (!this.isPaused.peek()) {
      this.take(frame);
      return;
    }
    this.frames.hold(frame);
    const { before, length } = this.recording.peek();
    this.held.value = Math.max(0, this.frames.end - before - length);
  }

  /** Applies a query if it is valid. */
  setQuery(query: string): void {
    clearTimeout(this.typing);
    batch(() => {
      this.draft.value = query;
      this.wanted.value = query;
    });
  }

  /** Applies a query when the user stops typing. */
  typeQuery(query: string): void {
    this.draft.value = query;
    clearTimeout(this.typing);
    this.typing = setTimeout(() => this.setQuery(query), TYPING_MS);
  }

  /** Shows or hides connections. */
  setHidden(hidden: Iterable<number>): void {
    this.hidden.value = new Set(hidden);
  }

  /** Selects a message in all views; undefined selects none. */
  selectMessage(row: number | undefined): void {
    this.selected.value = row;
  }

  /** Selects the message with this number (from 1, including dropped messages) if it exists. */
  selectNumber(number: number): void {
    const row = number - 1 - this.recording.peek().before;
    this.selectMessage(row < 0 ? undefined : row);
  }

  /** Asks a question about the displayed recording. */
  async ask<Q extends Question>(question: Q, abort?: AbortSignal): Promise<Answered<Q["ask"]>> {
    try {
      const answered = await this.source.ask(question, this.recording.peek().before, abort);
      const answer: Answers[keyof Answers] = answered.answer;
      if ("types" in answer) this.types.learn(answer.types);
      return answered;
    } catch (error) {
      if (error instanceof Disconnected) this.disconnect();
      throw error;
    }
  }

  /** Searches the displayed messages. An empty query ends the search. */
  async find(query: string): Promise<void> {
    if (query.trim() === "") {
      this.hits.value = undefined;
      return;
    }
    const recording = this.recording.peek();
    try {
      const { columns } = await this.ask({ ask: "select", query, hidden: [] });
      const found = visibleOf(recording.length, columns.get("selected"));
      const rows = this.visible.peek().rows.filter((row) => found.has(row));
      this.hits.value = { query, rows, recording, problem: undefined };
    } catch (error) {
      const problem = error instanceof Error ? error.message : String(error);
      this.hits.value = { query, rows: new Uint32Array(), recording, problem };
    }
  }

  private take(frame: Frame): void {
    const { head } = frame;
    if (isOf(frame, "messages")) this.grow(frame);
    else if (head.kind === "hello") this.greet(head);
    else if (head.kind === "reset") this.reset(head.before);
    else if (head.kind === "missing") this.lose(head);
    else if (head.kind === "end") this.end(head.why);
  }

  private greet({ title, mode, objects, calls }: HeadOf<"hello">): void {
    this.title.value = title;
    this.isLive.value = mode === "live";
    if (objects) this.bus.value = calls ? "call" : "look";
  }

  private grow(frame: MessagesFrame): void {
    (this.next ?? this.recording.value).apply(frame);
    if (this.next !== undefined && !this.turnOver(this.next)) return;
    if (this.isLive.value) this.progress.value = { state: "live" };
    // Reporting each part of a long recording would make all parts of the page count again, which
    // takes longer than loading.
    const now = performance.now();
    if (!this.isLive.value && now < this.toldUntil) return;
    this.toldUntil = now + LOADING_MS;
    this.grown.value++;
  }

  private lose({ overrun, disconnected }: HeadOf<"missing">): void {
    this.missing.value = { ...this.missing.peek(), overrun, disconnected };
  }

  /**
   * The oldest messages were dropped, and all others are sent again. Until then nothing changes.
   */
  private reset(before: number): void {
    this.next = new Recording();
    this.next.before = before;
    this.frames.startAt(before);
  }

  /**
   * Displays the messages that were sent again, if they are complete. Returns whether they are.
   * Rows, positions and times have changed.
   */
  private turnOver(next: Recording): boolean {
    const last = this.recording.value;
    if (next.before + next.length < last.before + last.length) return false;
    this.next = undefined;
    const seen = last.before + last.length;
    batch(() => {
      if (last.length > 0 && next.before > seen) {
        const missing = this.missing.peek();
        this.missing.value = { ...missing, skipped: missing.skipped + next.before - seen };
      }
      const { selected, hidden, span } = movedTo(next, last, {
        selected: this.selected.value,
        hidden: this.hidden.value,
        span: this.span.value,
      });
      this.selected.value = selected;
      this.hidden.value = hidden;
      this.span.value = span;
      this.visible.value = visibleAfter(this.visible.peek(), next.before - last.before);
      this.recording.value = next;
    });
    return true;
  }

  private end(why: string | null): void {
    this.grown.value++;
    this.progress.value = why === null ? { state: "whole" } : { state: "ended", why };
    const rest = this.recording.peek().length > AT_ONCE_MAX ? REST_MS : 0;
    setTimeout(() => void this.askEnding(), rest);
  }

  private async askEnding(): Promise<void> {
    try {
      const { answer } = await this.ask({ ask: "ending" });
      this.incomplete.value = answer.incomplete;
    } catch {
      // The reason stays unknown.
    }
  }

  /** Marks the page as busy if a new query or selection of services is not answered soon. */
  private watchBusy(wish: string): void {
    clearTimeout(this.busy);
    if (wish === this.answered) return;
    this.busy = setTimeout(() => {
      this.isBusy.value = true;
    }, BUSY_MS);
  }

  /** Requests the displayed messages, whenever they may have changed. */
  private select(): void {
    const wanted = this.wanted.value;
    const query = wanted === this.refused.value ? this.query.peek() : wanted;
    const hidden = [...this.hidden.value];
    this.grown.value;
    const recording = this.recording.value;
    if (recording.length === 0) return;
    const wish = JSON.stringify([query, hidden]);
    this.watchBusy(wish);
    this.selector.select({ query, hidden, of: recording }, (found) => {
      // The question is asked again when the page knows which messages remain.
      if (found instanceof Moved) return;
      clearTimeout(this.busy);
      this.answered = wish;
      batch(() => {
        this.isBusy.value = false;
        const problem = problemOf(found);
        if (found instanceof Refusal) this.refused.value = query;
        if (problem !== undefined || query === wanted) this.queryProblem.value = problem;
        this.queryNote.value =
          found instanceof Error ? undefined : (found.answer.note ?? undefined);
        if (found instanceof Error) return;
        this.query.value = query;
        this.total.value = found.answer.total;
        this.recorderNote.value = found.answer.recorder ?? undefined;
        this.visible.value = visibleOf(recording.length, found.columns.get("selected"));
      });
    });
  }
}

/** Frames that arrived while the page was paused. */
class HeldFrames {
  private frames: Frame[] = [];
  private before = 0;
  /** Number of messages on the bus up to the last of these frames. */
  end = 0;

  hold(frame: Frame): void {
    const { head } = frame;
    if (head.kind === "reset") {
      // All messages are sent again after it.
      const stays = ({ head: { kind } }: Frame) => kind !== "messages" && kind !== "reset";
      this.frames = this.frames.filter(stays);
      this.before = head.before;
    }
    if (head.kind === "messages") {
      const end = this.before + head.first + head.count;
      this.end = Math.max(this.end, end);
    }
    this.frames.push(frame);
  }

  release(): readonly Frame[] {
    const { frames } = this;
    this.frames = [];
    return frames;
  }

  /** Rows count from this message from now on. */
  startAt(before: number): void {
    this.before = before;
  }
}

function problemOf(found: Answered<"select"> | Error): QueryProblem | undefined {
  if (!(found instanceof Error)) return undefined;
  if (!(found instanceof Refusal)) {
    return { message: found.message, column: undefined, isUnfinished: false };
  }
  const { message, column, isUnfinished } = found;
  return { message, column, isUnfinished };
}

/** The result of a search. */
export interface Hits {
  readonly query: string;
  /** Rows of the hits in order. They include only displayed messages. */
  readonly rows: Uint32Array;
  /** The recording that the rows belong to. */
  readonly recording: Recording;
  /** The error in the query, if any. */
  readonly problem: string | undefined;
}

/** A time range, in nanoseconds since the first message. */
export interface Span {
  readonly from: number;
  readonly until: number;
}

/** The page is marked as busy if an answer takes longer than this. */
const BUSY_MS = 200;

/** Questions about a recording with more messages are sent after the page has drawn. */
const AT_ONCE_MAX = 300_000;
const REST_MS = 2000;

/** Interval at which the progress of loading is displayed. */
const LOADING_MS = 1000;

/** A query is applied after this many milliseconds without typing. */
const TYPING_MS = 120;
