// Arguments that are entered in one GVariant text. The program parses the text while the user
// types.

import { signal } from "@preact/signals";
import type { Json, ReadText } from "../generated/protocol";
import type { Read } from "./basic";
import { sentenceOf } from "./latest";

/** The result of parsing the text. */
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

  /** Sets the text, and parses it when the user stops typing. */
  type(text: string): void {
    this.text.value = text;
    this.read.value = { state: "reading" };
    this.reading = undefined;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.settle(), TYPING_MS);
  }

  /** Waits until the current text is parsed. */
  settle(): Promise<void> {
    clearTimeout(this.timer);
    this.reading ??= this.readText(this.text.peek());
    return this.reading;
  }

  /** The arguments, or the reason why they are not available. */
  get value(): Read<readonly Json[]> {
    const read = this.read.value;
    if (read.state === "right") return { value: read.arguments };
    return { problem: read.state === "wrong" ? read.sentence : "Still checking" };
  }

  private async readText(text: string): Promise<void> {
    const read = await this.ask(this.signature, text).then(readOf, (error: unknown): TextRead => {
      return { state: "wrong", sentence: sentenceOf(error), column: undefined };
    });
    // The user may have typed more in the meantime.
    if (this.text.peek() === text) this.read.value = read;
  }
}

function readOf(typed: ReadText): TextRead {
  if ("arguments" in typed) return { state: "right", arguments: typed.arguments };
  const { sentence, column } = typed.problem;
  return { state: "wrong", sentence, column: column ?? undefined };
}

/** The pause in typing after which the text is parsed. */
const TYPING_MS = 120;
