// The calls that were made since the page is there.

import type { JSX } from "preact";
import { inline } from "../details/values";
import { timeOfDay } from "../parts/format";
import { oneLine } from "../parts/visibleText";
import type { KnownTypes } from "../state/types";
import type { PastCall } from "./callDraft";
import { timingText } from "./Outcome";
import type { Session } from "./session";
import { toldValue } from "./values";

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
        <code class="objects-said">
          {oneLine(JSON.stringify(call.arguments).slice(1, -1), SAID_MAX)}
        </code>
        <span class={isFailed ? "objects-failed" : "objects-said"}>
          {oneLine(cameOf(past, session.client.types), SAID_MAX)}
        </span>
        <span class="note">{timingText(past.durations)}</span>
      </button>
    </li>
  );
}

function cameOf({ answer }: PastCall, types: KnownTypes): string {
  if (answer.failed !== undefined) return answer.failed.sentence;
  const results = answer.returned?.results ?? [];
  const values = results.map((value) => inline(toldValue(value, types)));
  return `→ ${values.join(", ") || "nothing"}`;
}

/** Of a time with its day, what is before the time, and behind the milliseconds. */
const DAY_LENGTH = "2000-01-01 ".length;
const MICROS = 3;
const SAID_MAX = 200;
