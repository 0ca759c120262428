// Where the recording comes from, and what answers questions about it.

import { FormatError } from "../format/check";
import type { Frame, FrameColumns } from "../format/frame";
import type { AnswerBody, Question } from "../generated/protocol";

/** The answers, each under the name of its question. */
export type Answers = {
  readonly [K in Question["ask"]]: Extract<AnswerBody, Readonly<Record<K, unknown>>>[K];
};

/** An answer to the question with this name. */
export interface Answered<K extends Question["ask"]> {
  readonly answer: Answers[K];
  readonly columns: FrameColumns;
}

/** A question that is not answered, and why. */
export class Refusal extends Error {
  constructor(
    message: string,
    /** The column of the query at which it is wrong, from 1, if it is the query that is wrong. */
    readonly column: number | undefined,
    /** Whether more text behind the query may repair it. */
    readonly isUnfinished = false,
  ) {
    super(message);
  }
}

/** What the page says when the program that serves it has ended. */
export const DISCONNECTED = "Diligence has stopped. Start it again and reload this page.";

/** The program that serves the page has ended. */
export class Disconnected extends Error {
  constructor() {
    super(DISCONNECTED);
  }
}

/** A question is not answered because the oldest messages were dropped, so rows have changed. */
export class Moved extends Error {}

/** A recording, or a bus, that the page shows. */
export interface Source {
  /** The frames of the recording, for as long as there are more. */
  frames(): AsyncIterable<Frame>;
  /** Where the whole is as one file, if it is not one already. */
  readonly saves?: Readonly<Record<"whole" | "redacted", string>>;
  /**
   * Answers a question about the rows of a recording with `before` messages before its first one; throws a
   * {@link Refusal} if there is no answer, and {@link Moved} if there are more before it by now.
   */
  ask<Q extends Question>(
    question: Q,
    before: number,
    signal?: AbortSignal,
  ): Promise<Answered<Q["ask"]>>;
}

/** The answer to a question, unless the frame says that there is none. */
export function answered<K extends Question["ask"]>({ head, columns }: Frame, ask: K): Answered<K> {
  if (head.kind === "moved") throw new Moved("the oldest messages are gone");
  if (head.kind === "refusal") throw new Refusal(head.message, head.column, head.unfinished);
  const answers: Partial<Answers> = head.kind === "answer" ? head.answer : {};
  const answer = answers[ask];
  if (answer === undefined) throw new FormatError(`not an answer to the question ${ask}`);
  return { answer, columns };
}
