// The program that serves this page.

import { decode, type Frame, Framer } from "../format/frame";
import { answered, type Question, type Source } from "./source";

/** Asks the program at the address of the page. */
export class HttpSource implements Source {
  readonly saves = { whole: "save/whole", redacted: "save/redacted" };

  async *frames(): AsyncGenerator<Frame> {
    const response = await fetch("stream");
    if (!response.ok || response.body === null) throw new Error(failure(response));
    const reader = response.body.getReader();
    const framer = new Framer();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield* framer.push(value);
    }
  }

  async ask(question: Question, before: number, signal?: AbortSignal): Promise<Frame> {
    const response = await fetch(`ask?before=${before}`, {
      method: "POST",
      body: JSON.stringify(question),
      signal: signal ?? null,
    });
    if (!response.ok) throw new Error(failure(response));
    return answered(decode(new Uint8Array(await response.arrayBuffer())));
  }
}

function failure(response: Response): string {
  return `the program does not answer: ${response.status} ${response.statusText}`;
}
