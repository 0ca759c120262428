// The source of the recording, which answers questions about it.

import { FormatError } from "../format/check";
import type { Frame, FrameColumns } from "../format/frame";
import type { AnswerBody, Question } from "../generated/protocol";

/** The answers, by the name of their question. */
export type Answers = {
  readonly [K in Question["ask"]]: Extract<AnswerBody, Readonly<Record<K, unknown>>>[K];
};

/** An answer to the question with this name. */
export interface Answered<K extends Question["ask"]> {
  readonly answer: Answers[K];
  readonly columns: FrameColumns;
}

/** The error for a question that the source does not answer, with the reason. */
export class Refusal extends Error {
  constructor(
    message: string,
    /** The column of the error in the query, from 1, if the query is invalid. */
    readonly column: number | undefined,
    /** True if more text at the end of the query may make it valid. */
    readonly isUnfinished = false,
  ) {
    super(message);
  }
}

/** The message of the page when the program that serves it has stopped. */
export const DISCONNECTED = "Diligence has stopped. Start it again and reload this page.";

/** The error if the program that serves the page has stopped. */
export class Disconnected extends Error {
  constructor() {
    super(DISCONNECTED);
  }
}

/** The error if the oldest messages were dropped, so that the rows of the question have changed. */
export class Moved extends Error {}

/** A recording or a bus that the page displays. */
export interface Source {
  /** The frames of the recording, until it ends. */
  frames(): AsyncIterable<Frame>;
  /** Where the whole recording can be downloaded as one file, unless it is already one. */
  readonly saves?: Readonly<Record<"whole" | "redacted", string>>;
  /**
   * Answers a question about the rows of a recording with `before` messages before its first one.
   * Throws a {@link Refusal} if the reply is empty, and {@link Moved} if more messages are before
   * it now.
   */
  ask<Q extends Question>(
    question: Q,
    before: number,
    signal?: AbortSignal,
  ): Promise<Answered<Q["ask"]>>;
}

/** The answer to a question, unless the frame contains an error. */
export function answered<K extends Question["ask"]>({ head, columns }: Frame, ask: K): Answered<K> {
  if (head.kind === "moved") throw new Moved("the oldest messages were dropped");
  if (head.kind === "refusal") throw new Refusal(head.message, head.column, head.unfinished);
  const answers: Partial<Answers> = head.kind === "answer" ? head.answer : {};
  const answer = answers[ask];
  if (answer === undefined) throw new FormatError(`not an answer to the question ${ask}`);
  return { answer, columns };
}
