// The messages that demonstrate a finding, with sender, recipient and duration.

import type { JSX } from "preact";
import type { Finding } from "../generated/protocol";
import type { Recording } from "../model/recording";
import { count, counted, sinceStart } from "../parts/format";
import { oneLine } from "../parts/visibleText";
import { nameOf, receiverOf } from "../sequence/model/describe";
import { useStore } from "../state/context";
import { outcomeOf } from "./outcome";
import { showMessages } from "./showMessages";

export function Evidence({ finding }: { readonly finding: Finding }): JSX.Element {
  const store = useStore();
  const { evidence, query } = finding;
  return (
    <div class="finding-evidence">
      {evidence.first.length === 0 && "the recording as a whole"}
      {evidence.first.length > 0 && (
        <ol class="evidence-list">
          {evidence.first.map((number) => (
            <li key={number}>
              <EvidenceLine number={number} />
            </li>
          ))}
        </ol>
      )}
      {evidence.count > evidence.first.length && (
        <span class="note">
          the first {evidence.first.length} of {counted(evidence.count, "message", "messages")}
        </span>
      )}
      {query !== "" && (
        <button
          type="button"
          class="copy"
          title={query}
          onClick={() => showMessages(store, finding)}
        >
          Show these in the sequence
        </button>
      )}
    </div>
  );
}

/** A message by its number, which counts from 1 and includes dropped messages. */
function EvidenceLine({ number }: { readonly number: number }): JSX.Element {
  const store = useStore();
  const recording = store.recording.value;
  const row = number - 1 - recording.before;
  const isThere = row >= 0 && row < recording.length;
  return (
    <button
      type="button"
      class="evidence"
      disabled={!isThere}
      aria-pressed={isThere && store.selected.value === row}
      onClick={() => store.selectNumber(number)}
    >
      <span class="evidence-number">{count(number)}</span>
      {isThere ? <Known recording={recording} row={row} /> : <span>no longer available</span>}
    </button>
  );
}

function Known({
  recording,
  row,
}: {
  readonly recording: Recording;
  readonly row: number;
}): JSX.Element {
  const member = recording.text(recording.member.get(recording.subjectOf(row)));
  return (
    <>
      <span class="note">{sinceStart(recording.at.get(row))}</span>
      <span class="evidence-what">
        {nameOf(recording, recording.from.get(row)) || "unknown"} → {receiverOf(recording, row)}{" "}
        <b>{oneLine(member, MEMBER_MAX)}</b>
      </span>
      <span class="evidence-outcome">{outcomeOf(recording, row)}</span>
    </>
  );
}

/** The maximum number of characters of a member name. */
const MEMBER_MAX = 80;
