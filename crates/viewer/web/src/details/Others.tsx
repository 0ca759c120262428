// Other calls of the same method, or signals of the same name.

import { useComputed, useSignal, useSignalEffect } from "@preact/signals";
import type { JSX } from "preact";
import { useRef } from "preact/hooks";
import { Kind, type Recording } from "../model/recording";
import { count, counted, duration } from "../parts/format";
import { useStore } from "../state/context";
import { Bars } from "./Bars";
import { Section } from "./Section";
import { durationsOf, Siblings } from "./siblings";

/** Those that are like this call or signal. */
export function Others({ subject }: { readonly subject: number }): JSX.Element | null {
  const store = useStore();
  const siblings = useSiblings(subject);
  const { recording, rows } = siblings;
  const place = siblings.placeOf(subject);
  const isCall = recording.kind.get(subject) === Kind.Call;
  const title = isCall ? "Calls of this method" : "Signals of this name";
  const go = (to: number): void => store.selectMessage(rows[to]);
  return (
    <Section title={title} note={count(rows.length)}>
      <div class="others-steps">
        <button type="button" class="plain" disabled={place === 0} onClick={() => go(place - 1)}>
          ← previous
        </button>
        <span class="note">
          {count(place + 1)} of {count(rows.length)}
        </span>
        <button
          type="button"
          class="plain"
          disabled={place + 1 >= rows.length}
          onClick={() => go(place + 1)}
        >
          next →
        </button>
      </div>
      {isCall ? <Calls recording={recording} rows={rows} subject={subject} /> : null}
    </Section>
  );
}

interface CallsProps {
  readonly recording: Recording;
  readonly rows: readonly number[];
  readonly subject: number;
}

function Calls({ recording, rows, subject }: CallsProps): JSX.Element {
  const store = useStore();
  const { answered, failed, unanswered, slowest, histogram } = durationsOf(recording, rows);
  const own = recording.durationOf(subject);
  return (
    <>
      {histogram === undefined ? null : <Bars histogram={histogram} own={own} />}
      <p class="note">
        {counted(answered, "is answered", "are answered")}
        {failed === 0 ? "" : `, ${count(failed)} with an error`}
        {unanswered === 0 ? "" : `, ${count(unanswered)} not`}
      </p>
      {slowest.length < 2 ? null : (
        <ol class="slowest" aria-label="The slowest">
          {slowest.map((row) => (
            <li key={row} class={row === subject ? "marked" : ""}>
              <button type="button" onClick={() => store.selectMessage(row)}>
                <span>{duration(recording.durationOf(row) ?? 0)}</span>
                <span class="note">message {count(row + 1 + recording.before)}</span>
              </button>
            </li>
          ))}
        </ol>
      )}
    </>
  );
}

/** All that are like it; as often as is looked at while more come. */
function useSiblings(subject: number): Siblings {
  const store = useStore();
  const turn = useSignal(0);
  const known = useRef<Siblings | undefined>(undefined);
  const later = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const recording = useComputed(() => store.recording.value).value;
  useSignalEffect(() => {
    store.grown.value;
    later.current ??= setTimeout(() => {
      later.current = undefined;
      turn.value++;
    }, LOOK_MS);
  });
  turn.value;
  if (known.current === undefined || !known.current.has(recording, subject)) {
    known.current = new Siblings(recording, subject);
  }
  known.current.update();
  return known.current;
}

/** So often those that have come are looked at. */
const LOOK_MS = 1000;
