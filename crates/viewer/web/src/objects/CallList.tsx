// The calls that were made since the page was opened.

import type { JSX } from "preact";
import { inline } from "../details/values";
import { timeOfDay } from "../parts/format";
import { oneLine } from "../parts/visibleText";
import type { KnownTypes } from "../state/types";
import type { PastCall } from "./callDraft";
import { timingText } from "./Outcome";
import type { Session } from "./session";
import { displayValue } from "./values";

interface CallListProps {
  readonly session: Session;
}

export function CallList({ session }: CallListProps): JSX.Element {
  const calls = session.history.value;
  if (calls.length === 0) {
    return <p class="empty">No calls yet. Calls made here are listed, newest first.</p>;
  }
  return (
    <ul class="objects-log" aria-label="Calls">
      {calls.map((past) => (
        <CallLine key={past.number} past={past} session={session} />
      ))}
    </ul>
  );
}

function CallLine({ past, session }: CallListProps & { readonly past: PastCall }): JSX.Element {
  const { call, answer } = past;
  const isFailed = answer.failed !== undefined;
  return (
    <li>
      <button
        type="button"
        class="objects-member"
        title={`${oneLine(call.service)} ${oneLine(call.path)} ${call.interface}: open with these arguments`}
        onClick={() => session.reopen(past)}
      >
        <time>{timeOfDay(BigInt(past.at) * 1_000_000n).slice(DAY_LENGTH, -MICROS)}</time>
        <span class="objects-member-name">{oneLine(call.method)}</span>
        <code class="objects-log-text">
          {oneLine(JSON.stringify(call.arguments).slice(1, -1), TEXT_MAX)}
        </code>
        <span class={isFailed ? "objects-failed" : "objects-log-text"}>
          {oneLine(resultText(past, session.client.types), TEXT_MAX)}
        </span>
        <span class="note">{timingText(past.durations)}</span>
      </button>
    </li>
  );
}

function resultText({ answer }: PastCall, types: KnownTypes): string {
  if (answer.failed !== undefined) return answer.failed.sentence;
  const results = answer.returned?.results ?? [];
  const values = results.map((value) => inline(displayValue(value, types)));
  return `→ ${values.join(", ") || "nothing"}`;
}

/** The lengths of the date before the time, and of the digits after the milliseconds. */
const DAY_LENGTH = "2000-01-01 ".length;
const MICROS = 3;
const TEXT_MAX = 200;
