// Arguments that are typed as one text of GVariant, which the program reads while somebody types.

import { signal } from "@preact/signals";
import type { Json, ReadText } from "../generated/protocol";
import type { Read } from "./basic";
import { sentenceOf } from "./latest";

/** What a text is. */
export type TextRead =
  | { readonly state: "reading" }
  | { readonly state: "right"; readonly arguments: readonly Json[] }
  | { readonly state: "wrong"; readonly sentence: string; readonly column: number | undefined };

export class TextEntry {
  readonly text = signal("");
  readonly read = signal<TextRead>({ state: "reading" });
  private timer: ReturnType<typeof setTimeout> | undefined;
  private reading: Promise<void> | undefined;

  constructor(
    private readonly signature: string,
    private readonly ask: (signature: string, text: string) => Promise<ReadText>,
  ) {}

  /** Takes another text, and has it read once nothing more is typed. */
  type(text: string): void {
    this.text.value = text;
    this.read.value = { state: "reading" };
    this.reading = undefined;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.settle(), TYPING_MS);
  }

  /** Waits until the text that is there is read. */
  settle(): Promise<void> {
    clearTimeout(this.timer);
    this.reading ??= this.readText(this.text.peek());
    return this.reading;
  }

  /** The arguments, or why there are none. */
  get value(): Read<readonly Json[]> {
    const read = this.read.value;
    if (read.state === "right") return { value: read.arguments };
    return { problem: read.state === "wrong" ? read.sentence : "Still checking" };
  }

  private async readText(text: string): Promise<void> {
    const read = await this.ask(this.signature, text).then(readOf, (error: unknown): TextRead => {
      return { state: "wrong", sentence: sentenceOf(error), column: undefined };
    });
    // More may have been typed since.
    if (this.text.peek() === text) this.read.value = read;
  }
}

function readOf(typed: ReadText): TextRead {
  if ("arguments" in typed) return { state: "right", arguments: typed.arguments };
  const { sentence, column } = typed.problem;
  return { state: "wrong", sentence, column: column ?? undefined };
}

/** So long nothing must be typed before a text is read. */
const TYPING_MS = 120;
