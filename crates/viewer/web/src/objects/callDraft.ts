// A call that is written, made and looked at.

import { type Signal, signal } from "@preact/signals";
import type {
  Argument,
  Call,
  CallAnswer,
  Json,
  Manner,
  Method,
  ValueType,
} from "../generated/protocol";
import { type BusClient, BusFailure } from "./bus";
import { emptyField, type FormField, fieldOf, readFields, replaced } from "./form";
import { sentenceOf } from "./latest";
import { TextEntry } from "./textEntry";

/** What has become of the call. */
export type CallProgress =
  | { readonly state: "none" }
  | { readonly state: "waiting"; readonly done: number; readonly of: number }
  | {
      readonly state: "answered";
      readonly answer: CallAnswer;
      readonly durations: readonly number[];
    }
  /** It was not sent. */
  | { readonly state: "refused"; readonly sentence: string; readonly argument: number | undefined };

/** A call with all that a form gives it. */
export interface FullCall extends Call {
  readonly interface: string;
  readonly signature: string;
  readonly arguments: readonly Json[];
}

/** A call that was made. */
export interface PastCall {
  readonly number: number;
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly call: FullCall;
  /** What the method takes, by which its form is made again. */
  readonly takes: readonly Argument[];
  readonly answer: CallAnswer;
  /** Nanoseconds of each, if it was made several times. */
  readonly durations: readonly number[];
}

/** The form of a method. */
export class CallDraft {
  /** The types of the arguments; undefined if the object declares an invalid one. */
  readonly types: readonly ValueType[] | undefined;
  /** What the method takes. */
  readonly takes: readonly Argument[];
  readonly fields: Signal<readonly FormField[]>;
  /** Whether the arguments are in the fields, or typed as one text. */
  readonly entry = signal<"fields" | "text">("fields");
  readonly typed: TextEntry;
  /** The types of all arguments. */
  readonly signature: string;
  /** Whether it was to be called, so that what is missing is told. */
  readonly isTried = signal(false);
  readonly repeat = signal(1);
  readonly isInteractive = signal(false);
  readonly progress = signal<CallProgress>({ state: "none" });
  private isStopped = false;

  constructor(
    readonly target: Omit<FullCall, "signature" | "arguments">,
    method: Method,
    private readonly client: BusClient,
  ) {
    this.takes = method.arguments;
    this.signature = method.arguments.map(({ type }) => type).join("");
    const types = method.arguments.map(({ type }) => client.types.get(type));
    this.types = types.every((type) => type !== undefined) ? types : undefined;
    this.fields = signal((this.types ?? []).map(emptyField));
    this.typed = new TextEntry(this.signature, (signature, text) => client.read(signature, text));
  }

  /** The call that is written, or what is wrong with it. */
  call(): FullCall | undefined {
    const read = this.entry.value === "text" ? this.typed.value : readFields(this.fields.value);
    if ("problem" in read || this.types === undefined) return undefined;
    return this.with(read.value);
  }

  private with(values: readonly Json[]): FullCall {
    return { ...this.target, signature: this.signature, arguments: values };
  }

  /** Has another argument in this place; what was said of the last one is about another call. */
  change(place: number, field: FormField): void {
    this.fields.value = replaced(this.fields.peek(), place, field);
    if (this.progress.peek().state === "refused") this.progress.value = { state: "none" };
  }

  /** Has the arguments typed as one text, at first as the fields have them. */
  async useText(): Promise<void> {
    const read = readFields(this.fields.peek());
    // Without the program the text is empty, and the page says elsewhere that the program has ended.
    const text = "value" in read ? this.client.write(this.signature, read.value) : undefined;
    const written = await text?.catch(() => undefined);
    if (written !== undefined) this.typed.type(written);
    this.entry.value = "text";
  }

  /** Has the arguments in fields, at first as the text has them. */
  useFields(): void {
    const read = this.typed.read.peek();
    if (read.state === "right") this.setFields(read.arguments);
    this.entry.value = "fields";
  }

  /** Shows these arguments in the fields. */
  setFields(values: readonly Json[]): void {
    this.fields.value = (this.types ?? []).map((type, at) =>
      fieldOf(type, values[at] ?? null, this.client.types),
    );
    this.entry.value = "fields";
  }

  /** Makes the call, as often as wanted one after the other, and tells of it when it is done. */
  async make(
    told: (call: FullCall, answer: CallAnswer, durations: readonly number[]) => void,
  ): Promise<void> {
    this.isTried.value = true;
    if (this.entry.peek() === "text") await this.typed.settle();
    const call = this.call();
    if (call === undefined || this.progress.peek().state === "waiting") return;
    const manner: Manner = this.isInteractive.peek() ? { authorization: "interactive" } : {};
    const of = Math.min(Math.max(1, this.repeat.peek()), REPEAT_MAX);
    this.isStopped = false;
    const durations: number[] = [];
    try {
      const answer = await this.makeAll(call, manner, of, durations);
      this.progress.value = { state: "answered", answer, durations };
      told(call, answer, durations);
    } catch (error) {
      const argument = error instanceof BusFailure ? error.argument : undefined;
      this.progress.value = { state: "refused", sentence: sentenceOf(error), argument };
    }
  }

  /** Makes no more calls than the one that is under way. */
  stop(): void {
    this.isStopped = true;
  }

  private async makeAll(
    call: FullCall,
    manner: Manner,
    of: number,
    durations: number[],
  ): Promise<CallAnswer> {
    for (;;) {
      this.progress.value = { state: "waiting", done: durations.length, of };
      const answer = await this.client.call(call, manner);
      durations.push(answer.took_ns);
      if (answer.failed !== undefined || durations.length >= of || this.isStopped) return answer;
    }
  }
}

/** Calls one after the other at most. */
export const REPEAT_MAX = 10_000;
