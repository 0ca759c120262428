// What all parts of the page share: the recording, what of it is shown, and what is selected.

import { batch, computed, effect, signal } from "@preact/signals";
import type { Frame } from "../format/frame";
import { VERSION } from "../format/frame";
import { Recording } from "../model/recording";
import type { Question, Selection, Source } from "../source/source";
import { Moved, Refusal } from "../source/source";
import type { Comparison } from "./comparison";
import { type Missing, NOTHING_MISSING } from "./missing";
import { movedTo } from "./moved";
import { Selector } from "./selector";
import type { ViewName } from "./views";
import { type Visible, visibleAfter, visibleOf } from "./visible";

/** How far the recording has come. */
export type Progress =
  | { readonly state: "loading" }
  | { readonly state: "whole" }
  | { readonly state: "live" }
  | { readonly state: "ended"; readonly why: string }
  | { readonly state: "failed"; readonly why: string };

/** What can be done on a bus: nothing, since there is only a recording; look at it; call methods too. */
export type BusAccess = "none" | "look" | "call";

/** What is wrong with the query that was written last. */
export interface QueryProblem {
  readonly message: string;
  readonly column: number | undefined;
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
  /** What of a bus is not shown. */
  readonly missing = signal<Missing>(NOTHING_MISSING);
  /** What can be done on the bus, if it is one that can be asked. */
  readonly bus = signal<BusAccess>("none");

  readonly view = signal<ViewName>("sequence");
  /** How two recordings are compared. */
  readonly comparison = signal<Comparison>({ tab: "differences", alignment: "start" });
  /** The query that selects; the last one that was right. */
  readonly query = signal("");
  /** The query as it is written, right or not. */
  readonly draft = signal("");
  /** The query that was asked for last, right or not. */
  private readonly wanted = signal("");
  readonly queryProblem = signal<QueryProblem | undefined>(undefined);
  /** Why the query matches no message, if it matches none. */
  readonly queryNote = signal<string | undefined>(undefined);
  /** Connections that are unticked: their columns and all messages they are involved in are hidden. */
  readonly hidden = signal<ReadonlySet<number>>(new Set());
  /** The stretch of time that is looked at, in nanoseconds since the first message. */
  readonly span = signal<Span | undefined>(undefined);
  /** The selected message, by its row. */
  readonly selected = signal<number | undefined>(undefined);
  /** The messages that are shown: by query and ticks, not by time. */
  readonly visible = signal<Visible>(visibleOf(0));

  /** Query and ticks, as questions have them; all that is counted is counted of these. */
  readonly selection = computed<Selection>(() => {
    const hidden = [...this.hidden.value];
    const span = this.span.value;
    return { query: this.query.value, hidden, from: span?.from, until: span?.until };
  });

  private readonly selector = new Selector((question, abort) => this.ask(question, abort));
  /** What is told anew, since the oldest messages are gone. */
  private next: Recording | undefined;
  /** Until when nobody is told that a recording has grown that is still read. */
  private toldUntil = 0;
  private typing: ReturnType<typeof setTimeout> | undefined;

  constructor(readonly source: Source) {
    effect(() => this.select());
  }

  /** Takes in the recording until its end. */
  async load(): Promise<void> {
    try {
      for await (const frame of this.source.frames()) this.take(frame);
    } catch (error) {
      this.progress.value = { state: "failed", why: String(error) };
    }
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
  ask(question: Question, abort?: AbortSignal): Promise<Frame> {
    return this.source.ask(question, this.recording.peek().before, abort);
  }

  private take(frame: Frame): void {
    if (frame.kind === "hello") this.greet(frame);
    else if (frame.kind === "messages") this.grow(frame);
    else if (frame.kind === "reset") this.reset(Number(frame.head.before));
    else if (frame.kind === "missing") this.lose(frame);
    else if (frame.kind === "end") this.end(frame.head.why as string | null);
  }

  private greet({ head }: Frame): void {
    if (head.version !== VERSION) {
      throw new Error(
        `the program speaks version ${head.version} of the format, this page ${VERSION}`,
      );
    }
    this.title.value = String(head.title);
    this.isLive.value = head.mode === "live";
    if (head.objects === true) this.bus.value = head.calls === true ? "call" : "look";
  }

  private grow(frame: Frame): void {
    (this.next ?? this.recording.value).apply(frame);
    if (this.next !== undefined && !this.turnOver(this.next)) return;
    if (this.isLive.value) this.progress.value = { state: "live" };
    // Whoever is told of each part of a long recording counts it again: that takes longer than reading it.
    const now = performance.now();
    if (!this.isLive.value && now < this.toldUntil) return;
    this.toldUntil = now + LOADING_MS;
    this.grown.value++;
  }

  private lose({ head }: Frame): void {
    const overrun = Number(head.overrun);
    const disconnected = Number(head.disconnected);
    this.missing.value = { ...this.missing.peek(), overrun, disconnected };
  }

  /** The oldest messages are gone, and all others are told anew. Until they are, all stays as it is. */
  private reset(before: number): void {
    this.next = new Recording();
    this.next.before = before;
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
  }

  /** Finds the messages that are shown, whenever that may have changed. */
  private select(): void {
    const query = this.wanted.value;
    const hidden = [...this.hidden.value];
    this.grown.value;
    const recording = this.recording.value;
    if (recording.length === 0) return;
    this.selector.select({ query, hidden, of: recording }, (found) => {
      // It is asked again once the page has been told what is left.
      if (found instanceof Moved) return;
      batch(() => {
        this.queryProblem.value = problemOf(found);
        this.queryNote.value = noteOf(found);
        if (found instanceof Error) return;
        this.query.value = query;
        this.visible.value = visibleOf(recording.length, found.columns.get("selected"));
      });
    });
  }
}

function problemOf(found: Frame | Error): QueryProblem | undefined {
  if (!(found instanceof Error)) return undefined;
  const column = found instanceof Refusal ? found.column : undefined;
  return { message: found.message, column };
}

function noteOf(found: Frame | Error): string | undefined {
  if (found instanceof Error) return undefined;
  const { note } = found.head;
  return typeof note === "string" ? note : undefined;
}

/** A stretch of time, in nanoseconds since the first message. */
export interface Span {
  readonly from: number;
  readonly until: number;
}

/** So often it is shown how far a recording was read. */
const LOADING_MS = 1000;

/** So long nothing must be typed before a query is asked. */
const TYPING_MS = 120;
