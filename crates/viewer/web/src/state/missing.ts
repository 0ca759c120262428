// Describes the messages of a bus that the page does not show.

import { counted } from "../parts/format";

/** The messages that are missing since the capture began. */
export interface Missing {
  /** Messages that arrived faster than the program read them. */
  readonly overrun: number;
  /** Number of times that the bus closed the connection. */
  readonly disconnected: number;
  /** Messages that the program had dropped before the page asked for them. */
  readonly skipped: number;
}

export const NOTHING_MISSING: Missing = { overrun: 0, disconnected: 0, skipped: 0 };

/** A sentence for each reason of missing messages. */
export function missingWords({ overrun, disconnected, skipped }: Missing): string[] {
  const words: string[] = [];
  if (overrun > 0)
    words.push(`${notShown(overrun)}: the bus was faster than the program could read`);
  if (skipped > 0) words.push(`${notShown(skipped)}: the program was faster than this page`);
  if (disconnected > 0) {
    words.push(
      `the bus closed the connection${times(disconnected)}; nothing after that was captured`,
    );
  }
  return words;
}

function notShown(messages: number): string {
  return `${counted(messages, "message is", "messages are")} not shown`;
}

function times(disconnected: number): string {
  return disconnected === 1 ? "" : ` ${disconnected} times`;
}
