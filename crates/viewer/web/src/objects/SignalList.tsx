// The signals of the selected object as they arrive.

import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { Arguments } from "../details/ValueTree";
import { inline } from "../details/values";
import type { WatchedSignal } from "../generated/protocol";
import { count, counted, timeOfDay } from "../parts/format";
import { oneLine } from "../parts/visibleText";
import { useStore } from "../state/context";
import { Failed } from "./Outcome";
import type { Session } from "./session";
import { LINES_MAX, type LogLine } from "./signalLog";
import { displayValue } from "./values";

interface SignalListProps {
  readonly session: Session;
}

export function SignalList({ session }: SignalListProps): JSX.Element {
  const { log } = session;
  const lines = log.lines.value;
  const unseen = log.unseen.value;
  return (
    <>
      <div class="objects-buttons">
        <button
          type="button"
          class="objects-button"
          aria-pressed={log.isPaused.value}
          onClick={() => log.togglePause()}
        >
          {log.isPaused.value ? `Resume${unseen === 0 ? "" : `, ${count(unseen)} new`}` : "Pause"}
        </button>
        <button type="button" class="objects-button" onClick={() => log.clear()}>
          Clear
        </button>
        <span class="note">The last {count(LINES_MAX)}, newest first</span>
      </div>
      {session.watchProblem.value === undefined ? null : (
        <p class="banner">{session.watchProblem.value}</p>
      )}
      {lines.length === 0 ? <p class="empty">No signals yet.</p> : null}
      <ul class="objects-log" aria-label="Signals">
        {lines.map((line) => (
          <Line key={line.number} line={line} />
        ))}
      </ul>
    </>
  );
}

function Line({ line }: { readonly line: LogLine }): JSX.Element {
  const { event } = line;
  if ("lost" in event) {
    const lost = counted(event.lost.count, "signal was", "signals were");
    return <li class="banner">{lost} lost because they arrived too fast.</li>;
  }
  return <SignalLine signal={event.signal} />;
}

function SignalLine({ signal }: { readonly signal: WatchedSignal }): JSX.Element {
  const { types } = useStore();
  const isOpen = useSignal(false);
  const values = (signal.arguments ?? []).map((value) => displayValue(value, types));
  const at = timeOfDay(BigInt(signal.at_us) * 1000n);
  const text = values.map((value) => inline(value)).join(", ");
  return (
    <li>
      <button
        type="button"
        class="objects-member"
        title={`${at} ${signal.interface} from ${signal.sender}`}
        aria-expanded={isOpen.value}
        onClick={() => (isOpen.value = !isOpen.value)}
      >
        <time>{at.slice(DAY_LENGTH)}</time>
        <span class="objects-member-name">{oneLine(signal.member, NAME_MAX)}</span>
        <code class="objects-log-text">{oneLine(text, TEXT_MAX)}</code>
      </button>
      {signal.failure === undefined ? null : <Failed failure={signal.failure} />}
      {isOpen.value ? <Arguments values={values} /> : null}
    </li>
  );
}

/** The length of the date before the time. */
const DAY_LENGTH = "2000-01-01 ".length;
const NAME_MAX = 80;
const TEXT_MAX = 300;
