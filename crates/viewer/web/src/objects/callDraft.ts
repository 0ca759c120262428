// A method call that the user prepares, makes and inspects.

import { type Signal, signal } from "@preact/signals";
import type {
  Argument,
  Call,
  CallAnswer,
  CallSettings,
  Json,
  Method,
  ValueType,
} from "../generated/protocol";
import { type BusClient, BusFailure } from "./bus";
import { emptyField, type FormField, fieldOf, readFields, replaced } from "./form";
import { sentenceOf } from "./latest";
import { TextEntry } from "./textEntry";

/** The progress of the call. */
export type CallProgress =
  | { readonly state: "none" }
  | { readonly state: "waiting"; readonly done: number; readonly of: number }
  | {
      readonly state: "answered";
      readonly answer: CallAnswer;
      readonly durations: readonly number[];
    }
  /** The call was not sent. */
  | { readonly state: "refused"; readonly sentence: string; readonly argument: number | undefined };

/** A call with all parts that the form provides. */
export interface FullCall extends Call {
  readonly interface: string;
  readonly signature: string;
  readonly arguments: readonly Json[];
}

/** A call that was made earlier. */
export interface PastCall {
  readonly number: number;
  /** The time of the call in milliseconds since 1970. */
  readonly at: number;
  readonly call: FullCall;
  /** The declared arguments of the method, from which its form can be rebuilt. */
  readonly takes: readonly Argument[];
  readonly answer: CallAnswer;
  /** The duration of each repetition in nanoseconds. */
  readonly durations: readonly number[];
}

/** The state of a method's form. */
export class CallDraft {
  /** The types of the arguments; undefined if the object declares an invalid type. */
  readonly types: readonly ValueType[] | undefined;
  /** The declared arguments of the method. */
  readonly takes: readonly Argument[];
  readonly fields: Signal<readonly FormField[]>;
  /** Selects between one field per argument and one text for all arguments. */
  readonly entry = signal<"fields" | "text">("fields");
  readonly typed: TextEntry;
  /** The signature of all arguments. */
  readonly signature: string;
  /** True after the first attempt to call. Missing input is reported from then on. */
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

  /** The prepared call; undefined if the input is invalid. */
  call(): FullCall | undefined {
    const read = this.entry.value === "text" ? this.typed.value : readFields(this.fields.value);
    if ("problem" in read || this.types === undefined) return undefined;
    return this.with(read.value);
  }

  private with(values: readonly Json[]): FullCall {
    return { ...this.target, signature: this.signature, arguments: values };
  }

  /** Changes an argument, and clears the error of the previous attempt. */
  change(place: number, field: FormField): void {
    this.fields.value = replaced(this.fields.peek(), place, field);
    if (this.progress.peek().state === "refused") this.progress.value = { state: "none" };
  }

  /** Switches to one text for all arguments, which initially contains the values of the fields. */
  async useText(): Promise<void> {
    const read = readFields(this.fields.peek());
    // If the program does not answer, the text stays empty; the header of the page reports the lost
    // connection.
    const text = "value" in read ? this.client.write(this.signature, read.value) : undefined;
    const written = await text?.catch(() => undefined);
    if (written !== undefined) this.typed.type(written);
    this.entry.value = "text";
  }

  /** Switches to one field per argument, which initially contain the values of the text. */
  useFields(): void {
    const read = this.typed.read.peek();
    if (read.state === "right") this.setFields(read.arguments);
    this.entry.value = "fields";
  }

  /** Shows the fields with these arguments. */
  setFields(values: readonly Json[]): void {
    this.fields.value = (this.types ?? []).map((type, at) =>
      fieldOf(type, values[at] ?? null, this.client.types),
    );
    this.entry.value = "fields";
  }

  /**
   * Makes the call the requested number of times in sequence, and calls `onDone` with the last
   * answer.
   */
  async make(
    onDone: (call: FullCall, answer: CallAnswer, durations: readonly number[]) => void,
  ): Promise<void> {
    this.isTried.value = true;
    if (this.entry.peek() === "text") await this.typed.settle();
    const call = this.call();
    if (call === undefined || this.progress.peek().state === "waiting") return;
    const settings: CallSettings = this.isInteractive.peek()
      ? { authorization: "interactive" }
      : {};
    const of = Math.min(Math.max(1, this.repeat.peek()), REPEAT_MAX);
    this.isStopped = false;
    const durations: number[] = [];
    try {
      const answer = await this.makeAll(call, settings, of, durations);
      this.progress.value = { state: "answered", answer, durations };
      onDone(call, answer, durations);
    } catch (error) {
      const argument = error instanceof BusFailure ? error.argument : undefined;
      this.progress.value = { state: "refused", sentence: sentenceOf(error), argument };
    }
  }

  /** Stops after the call in progress. */
  stop(): void {
    this.isStopped = true;
  }

  private async makeAll(
    call: FullCall,
    settings: CallSettings,
    of: number,
    durations: number[],
  ): Promise<CallAnswer> {
    for (;;) {
      this.progress.value = { state: "waiting", done: durations.length, of };
      const answer = await this.client.call(call, settings);
      durations.push(answer.took_ns);
      if (answer.failed !== undefined || durations.length >= of || this.isStopped) return answer;
    }
  }
}

/** The maximum number of calls in sequence. */
export const REPEAT_MAX = 10_000;
