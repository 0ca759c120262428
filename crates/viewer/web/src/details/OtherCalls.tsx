// Other calls of the same method, or signals with the same name.

import { effect, useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useMemo } from "preact/hooks";
import { Kind } from "../model/recording";
import { count, duration } from "../parts/format";
import { useStore } from "../state/context";
import { Bars } from "./Bars";
import { Follower } from "./follow";
import { Section } from "./Section";
import { type Siblings, siblingsOf } from "./siblings";

interface OthersProps {
  /** The row of the call or signal to compare with. */
  readonly subject: number;
}

/** Calls or signals of the same kind as this one. */
export function OtherCalls({ subject }: OthersProps): JSX.Element {
  const siblings = useSiblings(subject);
  const isCall = siblings.recording.kind.get(subject) === Kind.Call;
  const title = isCall ? "Calls of this method" : "Signals with this name";
  // Once the messages were counted, the list stays visible while new ones are counted.
  const isKnown = siblings.rows[siblings.placeOf(subject)] === subject;
  return (
    <Section title={title} note={isKnown ? count(siblings.rows.length) : "…"}>
      {isKnown ? <Steps siblings={siblings} subject={subject} /> : null}
      {isKnown && isCall ? <Calls siblings={siblings} subject={subject} /> : null}
    </Section>
  );
}

interface SiblingsProps extends OthersProps {
  readonly siblings: Siblings;
}

/** Links to the previous and the next message of the same kind. */
function Steps({ siblings, subject }: SiblingsProps): JSX.Element {
  const store = useStore();
  const { rows } = siblings;
  const place = siblings.placeOf(subject);
  const step = (words: string, to: number): JSX.Element => (
    <button
      type="button"
      class="plain"
      disabled={rows[to] === undefined}
      onClick={() => store.selectMessage(rows[to])}
    >
      {words}
    </button>
  );
  return (
    <div class="others-steps">
      {step("← previous", place - 1)}
      <span class="note">
        {count(place + 1)} of {count(rows.length)}
      </span>
      {step("next →", place + 1)}
    </div>
  );
}

function Calls({ siblings, subject }: SiblingsProps): JSX.Element {
  const { answered, failed, unanswered, slowest, histogram } = siblings.tally;
  const own = siblings.recording.durationOf(subject);
  return (
    <>
      {histogram === undefined ? null : <Bars histogram={histogram} own={own} />}
      <p class="note">
        {count(answered)} answered
        {failed === 0 ? "" : `, ${count(failed)} with an error`}
        {unanswered === 0 ? "" : `, ${count(unanswered)} unanswered`}
      </p>
      {slowest.length < 2 ? null : <Slowest rows={slowest} subject={subject} />}
    </>
  );
}

interface SlowestProps extends OthersProps {
  readonly rows: readonly number[];
}

function Slowest({ rows, subject }: SlowestProps): JSX.Element {
  const store = useStore();
  const recording = store.recording.value;
  return (
    <>
      <p class="note">Slowest:</p>
      <ol class="slowest" aria-label="Slowest">
        {rows.map((row) => (
          <li key={row} class={row === subject ? "marked" : ""}>
            <button type="button" onClick={() => store.selectMessage(row)}>
              <span>{duration(recording.durationOf(row) ?? 0)}</span>
              <span class="note">message {count(row + 1 + recording.before)}</span>
            </button>
          </li>
        ))}
      </ol>
    </>
  );
}

/** The messages of the same kind, as far as they have been counted. */
function useSiblings(subject: number): Siblings {
  const store = useStore();
  const recording = store.recording.value;
  const siblings = useMemo(() => siblingsOf(recording, subject), [recording, subject]);
  const updates = useSignal(0);
  updates.value;
  useEffect(() => {
    const follower = new Follower(siblings, () => updates.value++);
    const stop = effect(() => {
      store.grown.value;
      follower.wake();
    });
    return () => {
      stop();
      follower.stop();
    };
  }, [siblings, store, updates]);
  return siblings;
}
