// The program that serves this page.

import { decode, type Frame, Framer } from "../format/frame";
import type { Question } from "../generated/protocol";
import { type Answered, answered, Disconnected, type Source } from "./source";

/** Sends questions to the program at the address of the page. */
export class HttpSource implements Source {
  readonly saves = { whole: "save/whole", redacted: "save/redacted" };

  async *frames(): AsyncGenerator<Frame> {
    const response = await connected(fetch("stream"));
    if (!response.ok || response.body === null) throw new Error(failure(response));
    const reader = response.body.getReader();
    const framer = new Framer();
    for (;;) {
      const { done, value } = await connected(reader.read());
      if (done) return;
      yield* framer.push(value);
    }
  }

  async ask<Q extends Question>(
    question: Q,
    before: number,
    signal?: AbortSignal,
  ): Promise<Answered<Q["ask"]>> {
    const response = await connected(
      fetch(`ask?before=${before}`, {
        method: "POST",
        body: JSON.stringify(question),
        signal: signal ?? null,
      }),
    );
    if (!response.ok) throw new Error(failure(response));
    const bytes = await connected(response.arrayBuffer());
    return answered(decode(new Uint8Array(bytes)), question.ask);
  }
}

/** Browsers throw a TypeError if the program at the address of the page has stopped. */
async function connected<T>(asking: Promise<T>): Promise<T> {
  try {
    return await asking;
  } catch (error) {
    throw error instanceof TypeError ? new Disconnected() : error;
  }
}

function failure(response: Response): string {
  return `the program replied with an error: ${response.status} ${response.statusText}`;
}
