// What all parts of the page share: the recording, what of it is shown, and what is selected.

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
  /** Connections that must not take part in a message. */
  readonly hidden: readonly number[];
  /** Nanoseconds since the first message. */
  readonly from: number | undefined;
  readonly until: number | undefined;
}

/** How far the recording has come. */
export type Progress =
  | { readonly state: "loading" }
  | { readonly state: "whole" }
  | { readonly state: "live" }
  | { readonly state: "ended"; readonly why: string }
  /** The program that serves the page has ended. */
  | { readonly state: "disconnected"; readonly why: string }
  | { readonly state: "failed"; readonly why: string };

/** What can be done on a bus: nothing, since there is only a recording; look at it; call methods too. */
export type BusAccess = "none" | "look" | "call";

/** What is wrong with the query that was written last. */
export interface QueryProblem {
  readonly message: string;
  readonly column: number | undefined;
  /** Whether more text behind the query may repair it. */
  readonly isUnfinished: boolean;
}

/** The state of the page. Parts of it change it by its methods, and are told by its signals. */
export class Store {
  /** What is shown; a new one whenever older messages are gone. */
  readonly recording = signal(new Recording());
  /** Another number whenever the recording has grown. */
  readonly grown = signal(0);
  readonly title = signal("");
  readonly isLive = signal(false);
  readonly progress = signal<Progress>({ state: "loading" });
  /** Why the recording is incomplete; undefined while that is not known. */
  readonly incomplete = signal<readonly string[] | undefined>(undefined);
  /** What of a bus is not shown. */
  readonly missing = signal<Missing>(NOTHING_MISSING);
  /** What can be done on the bus, if it is one that can be asked. */
  readonly bus = signal<BusAccess>("none");

  /** The types of values that answers have mentioned. */
  readonly types = new KnownTypes();
  readonly page = new PageState();

  readonly view = signal<ViewName>("sequence");
  /** How two recordings are compared. */
  readonly comparison = signal<Comparison>({ tab: "differences", alignment: "start" });
  /** The query that selects; the last one that was right. */
  readonly query = signal("");
  /** The query as it is written, right or not. */
  readonly draft = signal("");
  /** The query that was asked for last, right or not. */
  private readonly wanted = signal("");
  /** The query that was refused last; the one before it goes on selecting. */
  private readonly refused = signal<string | undefined>(undefined);
  readonly queryProblem = signal<QueryProblem | undefined>(undefined);
  /** Why the query matches no message, if it matches none. */
  readonly queryNote = signal<string | undefined>(undefined);
  /** How many messages a query can select, and what is said of those of the recorder, if they are hidden. */
  readonly total = signal(0);
  readonly recorderNote = signal<string | undefined>(undefined);
  /** Whether the messages that are shown are those of an earlier query, as the answer takes long. */
  readonly isBusy = signal(false);
  /** Whether what comes from a running bus is held back. */
  readonly isPaused = signal(false);
  /** Messages that are held back. */
  readonly held = signal(0);
  /** Messages that were searched for; all others are still shown. */
  readonly hits = signal<Hits | undefined>(undefined);
  /** Connections that are unticked: their columns and all messages they are involved in are hidden. */
  readonly hidden = signal<ReadonlySet<number>>(new Set());
  /** The stretch of time that is looked at, in nanoseconds since the first message. */
  readonly span = signal<Span | undefined>(undefined);
  /** The selected message, by its row. */
  readonly selected = signal<number | undefined>(undefined);
  /** The messages that are shown: by query and ticks, not by time. */
  readonly visible = signal<Visible>(visibleOf(0));

  /** The rows of the messages that are shown: by query, ticks and time. */
  readonly shown = computed<Uint32Array>(() => {
    this.grown.value;
    return shownIn(this.recording.value, this.visible.value.rows, this.span.value);
  });

  /** Query and ticks, as questions have them; all that is counted is counted of these. */
  readonly selection = computed<StoreSelection>(() => {
    const hidden = [...this.hidden.value];
    const span = this.span.value;
    // The program knows what has come since the page was paused.
    const end = this.isPaused.value ? this.recording.value.end + 1 : undefined;
    const until = span?.until ?? end;
    return { query: this.query.value, hidden, from: span?.from, until };
  });

  private readonly parts = new Map<unknown, object>();
  private readonly selector = new Selector((question, abort) => this.ask(question, abort));
  /** What is told anew, since the oldest messages are gone. */
  private next: Recording | undefined;
  /** Until when nobody is told that a recording has grown that is still read. */
  private toldUntil = 0;
  private typing: ReturnType<typeof setTimeout> | undefined;
  private readonly frames = new HeldFrames();
  private busy: ReturnType<typeof setTimeout> | undefined;
  /** The query and the ticks that were answered last. */
  private answered = "";

  constructor(readonly source: Source) {
    effect(() => this.select());
  }

  /** The state of a part of the page. It is made the first time, and stays while other views are shown. */
  part<T extends object>(type: abstract new (...made: never[]) => T, make: () => T): T {
    const known = this.parts.get(type);
    if (known instanceof type) return known;
    const made = make();
    this.parts.set(type, made);
    return made;
  }

  /** Takes in the recording until its end. */
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

  /** Holds all that comes from a running bus back, or shows it. */
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

  /** Has a query select from now on, if it is one. */
  setQuery(query: string): void {
    clearTimeout(this.typing);
    batch(() => {
      this.draft.value = query;
      this.wanted.value = query;
    });
  }

  /** Has a query select once nothing more is typed. */
  typeQuery(query: string): void {
    this.draft.value = query;
    clearTimeout(this.typing);
    this.typing = setTimeout(() => this.setQuery(query), TYPING_MS);
  }

  /** Shows or hides connections. */
  setHidden(hidden: Iterable<number>): void {
    this.hidden.value = new Set(hidden);
  }

  /** Selects a message, wherever it is looked at; undefined selects none. */
  selectMessage(row: number | undefined): void {
    this.selected.value = row;
  }

  /** Selects the message of this number, from 1 and with those that are gone, if it is there. */
  selectNumber(number: number): void {
    const row = number - 1 - this.recording.peek().before;
    this.selectMessage(row < 0 ? undefined : row);
  }

  /** Asks about the recording that is shown. */
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

  /** Searches for messages among those that are shown; an empty query ends the search. */
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
    // Whoever is told of each part of a long recording counts it again: that takes longer than reading it.
    const now = performance.now();
    if (!this.isLive.value && now < this.toldUntil) return;
    this.toldUntil = now + LOADING_MS;
    this.grown.value++;
  }

  private lose({ overrun, disconnected }: HeadOf<"missing">): void {
    this.missing.value = { ...this.missing.peek(), overrun, disconnected };
  }

  /** The oldest messages are gone, and all others are told anew. Until they are, all stays as it is. */
  private reset(before: number): void {
    this.next = new Recording();
    this.next.before = before;
    this.frames.startAt(before);
  }

  /** Shows what was told anew, if it is all there; says whether. Rows, places and times are others. */
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
      // Then it is not known.
    }
  }

  /** Says that the page is busy if another query or other ticks are not answered soon. */
  private watchBusy(wish: string): void {
    clearTimeout(this.busy);
    if (wish === this.answered) return;
    this.busy = setTimeout(() => {
      this.isBusy.value = true;
    }, BUSY_MS);
  }

  /** Finds the messages that are shown, whenever that may have changed. */
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
      // It is asked again once the page has been told what is left.
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

/** Frames that came while the page was paused. */
class HeldFrames {
  private frames: Frame[] = [];
  private before = 0;
  /** How many messages there were on the bus until the last of these frames. */
  end = 0;

  hold(frame: Frame): void {
    const { head } = frame;
    if (head.kind === "reset") {
      // All messages are told again behind it.
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

  /** From now on rows are counted from this message. */
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

/** Messages that were searched for. */
export interface Hits {
  readonly query: string;
  /** Their rows, in order; only those of messages that are shown. */
  readonly rows: Uint32Array;
  /** The recording they are rows of. */
  readonly recording: Recording;
  /** What is wrong with the query, if anything. */
  readonly problem: string | undefined;
}

/** A stretch of time, in nanoseconds since the first message. */
export interface Span {
  readonly from: number;
  readonly until: number;
}

/** An answer that takes longer than this is waited for visibly. */
const BUSY_MS = 200;

/** A recording with more messages is asked about once the page has had time to draw. */
const AT_ONCE_MAX = 300_000;
const REST_MS = 2000;

/** So often it is shown how far a recording was read. */
const LOADING_MS = 1000;

/** So long nothing must be typed before a query is asked. */
const TYPING_MS = 120;
