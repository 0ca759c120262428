// What the page does not show of a bus, in words.

import { counted } from "../parts/format";

/** What is missing of a bus since it was listened to. */
export interface Missing {
  /** Messages that came faster than the program took them. */
  readonly overrun: number;
  /** How often the bus has ended the connection. */
  readonly disconnected: number;
  /** Messages that the program no longer had when the page came to ask for them. */
  readonly skipped: number;
}

export const NOTHING_MISSING: Missing = { overrun: 0, disconnected: 0, skipped: 0 };

/** A sentence for each reason for which something is missing. */
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
