// The visible part of the diagram as a table, for screen readers.

import { useSignal, useSignalEffect } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { duration, sinceStart } from "../parts/format";
import type { Diagram } from "./Diagram";
import { nameOf, receiverOf, sentenceOf } from "./model/describe";
import { drawable } from "./model/text";

export function RowTable({ diagram }: { readonly diagram: Diagram }): JSX.Element {
  const rows = useSignal<readonly number[]>([]);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  useSignalEffect(() => {
    diagram.moved.value;
    // A few updates per second are enough for reading, also with a running bus.
    timer.current ??= setTimeout(() => {
      timer.current = undefined;
      rows.value = diagram.seenRows();
    }, REST_MS);
  });
  return (
    <>
      <Announced diagram={diagram} />
      <table class="sr-only" aria-label="Visible messages">
        <thead>
          <tr>
            {["Number", "Time", "Message", "From", "To", "Duration"].map((title) => (
              <th key={title} scope="col">
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.value.map((row) => (
            <Row key={row} diagram={diagram} row={row} />
          ))}
        </tbody>
      </table>
    </>
  );
}

/** The selected message in words, announced when the selection changes. */
function Announced({ diagram }: { readonly diagram: Diagram }): JSX.Element {
  const { recording } = diagram.scene.value;
  const row = diagram.selected;
  const isThere = row !== undefined && row < recording.length;
  return (
    <p class="sr-only" role="status">
      {isThere ? sentenceOf(recording, row) : ""}
    </p>
  );
}

function Row({
  diagram,
  row,
}: {
  readonly diagram: Diagram;
  readonly row: number;
}): JSX.Element | null {
  const { recording } = diagram.scene.value;
  if (row >= recording.length) return null;
  const subject = recording.subjectOf(row);
  const length = recording.durationOf(row);
  const face = recording.text(recording.interface.get(subject));
  return (
    <tr>
      <td>{row + recording.before + 1}</td>
      <td>{sinceStart(recording.at.get(row))}</td>
      <td>{drawable(`${face} ${recording.text(recording.member.get(subject))}`)}</td>
      <td>{nameOf(recording, recording.from.get(row))}</td>
      <td>{receiverOf(recording, row)}</td>
      <td>{length === undefined ? "" : duration(length)}</td>
    </tr>
  );
}

const REST_MS = 250;
