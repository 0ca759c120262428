// The visible messages of both diagrams as a table of pairs, for screen readers.

import { type ReadonlySignal, useSignal, useSignalEffect } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { NONE, type Recording } from "../model/recording";
import { sinceStart } from "../parts/format";
import { sentenceOf } from "../sequence/model/describe";
import type { Scene } from "../sequence/model/scene";
import { drawable } from "../sequence/model/text";
import { useStore } from "../state/context";
import type { Linked } from "./Linked";
import type { Built } from "./model/build";
import { type Pair, pairsOf } from "./model/pairs";
import { selectedAt } from "./state";

interface PairTableProps {
  readonly linked: Linked;
  readonly built: ReadonlySignal<Built | undefined>;
}

export function PairTable({ linked, built }: PairTableProps): JSX.Element {
  const pairs = useSignal<readonly Pair[]>([]);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  const [one, other] = linked.interactions.map(({ diagram }) => diagram);
  useSignalEffect(() => {
    void [one?.moved.value, other?.moved.value];
    timer.current ??= setTimeout(() => {
      timer.current = undefined;
      const { counterparts } = built.peek() ?? { counterparts: new Uint32Array() };
      pairs.value = pairsOf(counterparts, one?.seenRows() ?? [], other?.seenRows() ?? []);
    }, UPDATE_MS);
  });
  const now = built.value;
  return (
    <>
      <SelectionStatus built={built} />
      <table class="sr-only" aria-label="Visible messages, in pairs">
        <thead>
          <tr>
            {["Message", "Before", "Time", "After", "Time", "Difference"].map((title, place) => (
              <th key={place} scope="col">
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {now &&
            pairs.value.map((pair) => (
              <PairRow key={`${pair.before} ${pair.after}`} pair={pair} built={now} />
            ))}
        </tbody>
      </table>
    </>
  );
}

function PairRow({ pair, built }: { readonly pair: Pair; readonly built: Built }): JSX.Element {
  const { recording, halves } = built;
  const { before, after } = pair;
  const row = before === NONE ? after : before;
  return (
    <tr>
      <td>{memberOf(recording, row)}</td>
      <td>{numberOf(recording, before)}</td>
      <td>{timeOf(halves[0].scene, before)}</td>
      <td>{numberOf(recording, after)}</td>
      <td>{timeOf(halves[1].scene, after)}</td>
      <td>{differenceOf(built, pair)}</td>
    </tr>
  );
}

/** Announces the selected message and its difference. */
function SelectionStatus({ built }: Pick<PairTableProps, "built">): JSX.Element {
  const store = useStore();
  const now = built.value;
  const at = now && selectedAt(store, now);
  return (
    <p class="sr-only" role="status">
      {now === undefined || at === undefined
        ? ""
        : `${SIDES[at.side]}: ${sentenceOf(now.recording, at.row)}. ${noteOn(now, at.side, at.row)}`}
    </p>
  );
}

function memberOf(recording: Recording, row: number): string {
  const subject = recording.subjectOf(row);
  const face = recording.text(recording.interface.get(subject));
  return drawable(`${face} ${recording.text(recording.member.get(subject))}`);
}

function numberOf(recording: Recording, row: number): string {
  return row === NONE ? "" : String(row + recording.before + 1);
}

function timeOf({ recording, origin }: Scene, row: number): string {
  return row === NONE ? "" : sinceStart(recording.at.get(row) - origin);
}

function differenceOf(built: Built, { before, after }: Pair): string {
  const notes = [noteOn(built, 0, before), noteOn(built, 1, after)];
  return notes.flatMap((note, side) => (note === "" ? [] : [`${SIDES[side]}: ${note}`])).join(", ");
}

function noteOn({ halves }: Built, side: 0 | 1, row: number): string {
  return row === NONE ? "" : (halves[side].scene.noteOf(row)?.text ?? "");
}

const SIDES = ["before", "after"] as const;
/** The minimum interval between updates in milliseconds. */
const UPDATE_MS = 250;
