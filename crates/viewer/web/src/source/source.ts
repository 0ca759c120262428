// Where the recording comes from, and who answers questions about it.

import type { Frame } from "../format/frame";

/** Which messages are meant. */
export interface Selection {
  readonly query: string;
  /** Connections with which no message shall be involved. */
  readonly hidden: readonly number[];
  /** Nanoseconds since the first message. */
  readonly from?: number | undefined;
  readonly until?: number | undefined;
}

/** What can be asked. `crates/analyst/src/question.rs` says what is answered. */
export type Question =
  | ({ readonly ask: "select" } & Selection)
  | ({ readonly ask: "without" } & Selection)
  | { readonly ask: "complete"; readonly query: string; readonly cursor: number }
  | { readonly ask: "message"; readonly id: number }
  | ({ readonly ask: "summary" } & Selection)
  | ({ readonly ask: "statistics"; readonly subject: string } & Selection)
  | { readonly ask: "findings" }
  | { readonly ask: "ending" }
  | ({ readonly ask: "save"; readonly format: "pcapng" | "pcap" } & Selection)
  | ({ readonly ask: "timeline" } & Selection)
  | {
      readonly ask: "switches";
      readonly from: number;
      readonly until: number;
      readonly finest: number;
    }
  | ({
      readonly ask: "compare";
      readonly before: readonly number[];
      readonly after: readonly number[];
    } & Selection);

/** What is not answered, and why. */
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

/** What is not answered since the oldest messages of the bus are gone: rows are others now. */
export class Moved extends Error {}

/** A recording, or a bus, that the page shows. */
export interface Source {
  /** The frames that tell it, for as long as there are more. */
  frames(): AsyncIterable<Frame>;
  /** Where the whole is as one file, if it is not one already. */
  readonly saves?: Readonly<Record<"whole" | "redacted", string>>;
  /**
   * Answers a question about the rows of a recording with `before` messages before its first one; throws a
   * {@link Refusal} if there is no answer, and {@link Moved} if there are more before it by now.
   */
  ask(question: Question, before: number, signal?: AbortSignal): Promise<Frame>;
}

/** The frame, unless it says that there is no answer. */
export function answered(frame: Frame): Frame {
  if (frame.kind === "moved") throw new Moved("the oldest messages are gone");
  if (frame.kind !== "refusal") return frame;
  const { message, column, unfinished } = frame.head;
  const place = column === undefined ? undefined : Number(column);
  throw new Refusal(String(message), place, unfinished === true);
}
