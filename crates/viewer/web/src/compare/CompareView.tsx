// What is different between two recordings that were opened together.

import { useComputed, useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { counted } from "../parts/format";
import type { TableData } from "../parts/table";
import { useAnswer } from "../state/answer";
import { useStore } from "../state/context";
import { settledSelection } from "../statistics/asked";
import { sentence } from "../statistics/SubjectTable";
import { DifferenceTable } from "./DifferenceTable";
import { type Clock, SideTraffic, useSide } from "./SideTraffic";
import { type Side, sidesOf } from "./sides";

export function CompareView(): JSX.Element {
  const store = useStore();
  const sides = useComputed(() => {
    store.grown.value;
    return sidesOf(store.recording.value);
  });
  if (sides.value.length < 2) return <HowToCompare />;
  return <Comparison sides={sides.value} />;
}

function HowToCompare(): JSX.Element {
  return (
    <div class="empty">
      <p>There is one recording here. To see what is different between two, open both:</p>
      <p>
        <code>diligence view BEFORE AFTER</code>
      </p>
      <p>Each keeps its clock, its buses and its connections; a query selects in both of them.</p>
    </div>
  );
}

interface Differences {
  /** How many members each side has. */
  readonly members: readonly [number, number];
  readonly table: TableData;
}

function Comparison({ sides }: { readonly sides: readonly Side[] }): JSX.Element {
  const settled = settledSelection(useStore());
  const [before, after] = [useSignal(0), useSignal(1)];
  const clock = useSignal<Clock>("own");
  const sideOf = (place: number): Side => sides[place] ?? { name: "", buses: [] };
  const asked = useAnswer<Differences>(() => {
    const selection = settled.value;
    if (selection === undefined) return undefined;
    const [one, other] = [before, after].map(({ value }) => sideOf(value).buses);
    return { ask: "compare", before: one ?? [], after: other ?? [], ...selection };
  });
  const first = useSide(() => sideOf(before.value), clock);
  const second = useSide(() => sideOf(after.value), clock);
  const length = useComputed(() => {
    const ends = [first.value, second.value].map((one) =>
      one === undefined ? 0 : one.span.until - (clock.value === "own" ? one.span.from : 0),
    );
    return Math.max(...ends);
  });
  const { answer, problem } = asked.value;
  return (
    <div class="compare">
      <div class="compare-sides">
        <Chooser label="Before" sides={sides} chosen={before} />
        <SideTraffic name={sideOf(before.value).name} counted={first} {...{ clock, length }} />
        <Chooser label="After" sides={sides} chosen={after} />
        <SideTraffic name={sideOf(after.value).name} counted={second} {...{ clock, length }} />
      </div>
      <p class="compare-bar">
        <span>{answer === undefined ? "" : inWords(answer)}</span>
        <label>
          <input
            type="checkbox"
            checked={clock.value === "one"}
            onChange={(event) => {
              clock.value = event.currentTarget.checked ? "one" : "own";
            }}
          />{" "}
          on one clock
        </label>
      </p>
      <div class="fill">
        {problem !== undefined ? (
          <p class="empty">{sentence(problem)}</p>
        ) : answer === undefined ? (
          <p class="empty">Comparing …</p>
        ) : answer.table.rows.length === 0 ? (
          <p class="empty">Nothing is different beyond noise.</p>
        ) : (
          <DifferenceTable table={answer.table} />
        )}
      </div>
    </div>
  );
}

interface ChooserProps {
  readonly label: string;
  readonly sides: readonly Side[];
  readonly chosen: { value: number };
}

function Chooser({ label, sides, chosen }: ChooserProps): JSX.Element {
  return (
    <label class="compare-chooser">
      <span>{label}</span>
      <select
        value={chosen.value}
        onChange={(event) => {
          chosen.value = Number(event.currentTarget.value);
        }}
      >
        {sides.map(({ name }, place) => (
          <option key={place} value={place}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}

/** What was found, in a sentence. */
function inWords({ members: [before, after], table }: Differences): string {
  const of = (word: string): number =>
    table.rows.filter((row) => String(row[0]).split(", ").includes(word)).length;
  const sizes = `${counted(before, "method or signal", "methods and signals")} before, ${after} after`;
  return `${sizes}: ${of("new")} new, ${of("gone")} gone, ${counted(table.rows.length, "is", "are")} different beyond noise.`;
}
