// The differences between two recordings in numbers.

import { useComputed } from "@preact/signals";
import type { JSX } from "preact";
import type { CompareAnswer } from "../generated/protocol";
import { counted } from "../parts/format";
import { useAnswer } from "../state/answer";
import { useStore } from "../state/context";
import { settledSelection } from "../statistics/queries";
import { sentence, WithNotes } from "../statistics/SubjectTable";
import { Chooser } from "./Chooser";
import { DifferenceTable } from "./DifferenceTable";
import { SideTraffic, useSide } from "./SideTraffic";
import { NO_SIDE, type Side } from "./sides";
import { compareState } from "./state";

export function Differences({ sides }: { readonly sides: readonly Side[] }): JSX.Element {
  const store = useStore();
  const settled = settledSelection(store);
  const [before, after] = compareState(store).chosen;
  const alignment = useComputed(() => store.comparison.value.alignment);
  const sideOf = (place: number): Side => sides[place] ?? NO_SIDE;
  const request = useAnswer(() => {
    const selection = settled.value;
    if (selection === undefined) return undefined;
    const [one, other] = [before, after].map(({ value }) => sideOf(value).buses);
    return { ask: "compare" as const, before: one ?? [], after: other ?? [], ...selection };
  });
  const first = useSide(() => sideOf(before.value), alignment);
  const second = useSide(() => sideOf(after.value), alignment);
  const length = useComputed(() => {
    const ends = [first.value, second.value].map((one) =>
      one === undefined ? 0 : one.span.until - (alignment.value === "start" ? one.span.from : 0),
    );
    return Math.max(...ends);
  });
  const { answer, problem } = request.value;
  return (
    <>
      <div class="compare-sides">
        <Chooser label="Before" sides={sides} chosen={before} />
        <SideTraffic name={sideOf(before.value).name} counted={first} {...{ alignment, length }} />
        <Chooser label="After" sides={sides} chosen={after} />
        <SideTraffic name={sideOf(after.value).name} counted={second} {...{ alignment, length }} />
      </div>
      <p class="compare-bar">
        <span>{answer === undefined ? "" : summaryOf(answer)}</span>
        <OneClock />
      </p>
      <div class="fill">
        {problem !== undefined ? (
          <p class="empty">{sentence(problem)}</p>
        ) : answer === undefined ? (
          <p class="empty">Comparing…</p>
        ) : answer.table.rows.length === 0 ? (
          <p class="empty">No significant differences.</p>
        ) : (
          <WithNotes notes={answer.table.notes}>
            <DifferenceTable table={answer.table} />
          </WithNotes>
        )}
      </div>
    </>
  );
}

function OneClock(): JSX.Element {
  const store = useStore();
  const comparison = store.comparison.value;
  return (
    <label>
      <input
        type="checkbox"
        checked={comparison.alignment === "clock"}
        onChange={(event) => {
          const alignment = event.currentTarget.checked ? "clock" : "start";
          store.comparison.value = { ...comparison, alignment };
        }}
      />{" "}
      on a common clock
    </label>
  );
}

/** A summary of the differences in one sentence. */
function summaryOf({ members: [before, after], table }: CompareAnswer): string {
  const of = (word: string): number =>
    table.rows.filter((row) => String(row[0]).split(", ").includes(word)).length;
  const sizes = `${counted(before, "method or signal", "methods and signals")} before, ${after} after`;
  return `${sizes}: ${of("new")} new, ${of("gone")} gone, ${counted(table.rows.length, "differs", "differ")} significantly.`;
}
