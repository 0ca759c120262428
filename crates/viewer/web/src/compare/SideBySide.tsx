// The sequence diagrams of two recordings side by side.

import { type ReadonlySignal, useSignal, useSignalEffect } from "@preact/signals";
import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import { useKeys } from "../keys/useKeys";
import { count, counted } from "../parts/format";
import type { Interaction } from "../sequence/Interaction";
import { Stage } from "../sequence/Stage";
import { Choice } from "../sequence/Toolbar";
import { useStore } from "../state/context";
import { Chooser } from "./Chooser";
import { compareKeys } from "./compareKeys";
import { Linked } from "./Linked";
import type { Built } from "./model/build";
import { PairTable } from "./PairTable";
import { NO_SIDE, type Side } from "./sides";
import { compareState, SideSubject } from "./state";
import { useBuilt } from "./useBuilt";

export function SideBySide({ sides }: { readonly sides: readonly Side[] }): JSX.Element {
  const store = useStore();
  const { chosen, sequence } = compareState(store);
  const built = useBuilt((place) => sides[chosen[place].value] ?? NO_SIDE);
  const subjects = useMemo(
    () => ([0, 1] as const).map((side) => new SideSubject(store, built, side, sequence)),
    [store, built, sequence],
  );
  const ready = [
    useSignal<Interaction | undefined>(undefined),
    useSignal<Interaction | undefined>(undefined),
  ];
  const linked = useLinked(ready, built);
  return (
    <div class="compare-sequences">
      <PairBar linked={linked.value} />
      <div class="compare-stages">
        {subjects.map((subject, place) => (
          <section key={place} class="compare-stage" aria-label={LABELS[subject.side]}>
            <div class="compare-stage-head">
              <Chooser label={LABELS[subject.side]} sides={sides} chosen={chosen[subject.side]} />
              <DifferenceCounts built={built} side={subject.side} />
            </div>
            <Stage
              subject={subject}
              label={`Sequence diagram of ${LABELS[subject.side]}. Press j and k to move between lines, x for the next difference.`}
              onReady={(interaction) => {
                const one = ready[subject.side];
                if (one !== undefined) one.value = interaction;
              }}
            />
          </section>
        ))}
      </div>
      {linked.value === undefined ? null : <LinkedParts linked={linked.value} built={built} />}
    </div>
  );
}

/** Links both diagrams once they are ready. */
function useLinked(
  ready: readonly ReadonlySignal<Interaction | undefined>[],
  built: ReadonlySignal<Built | undefined>,
): ReadonlySignal<Linked | undefined> {
  const store = useStore();
  const linked = useSignal<Linked | undefined>(undefined);
  useSignalEffect(() => {
    const [one, other] = ready.map(({ value }) => value);
    if (one === undefined || other === undefined) {
      linked.value = undefined;
      return;
    }
    const both = new Linked([one, other], store, built);
    linked.value = both;
    return () => both.end();
  });
  return linked;
}

interface LinkedPartsProps {
  readonly linked: Linked;
  readonly built: ReadonlySignal<Built | undefined>;
}

/** The keys of the linked diagrams, and their content for screen readers. */
function LinkedParts({ linked, built }: LinkedPartsProps): JSX.Element {
  const { sequence } = compareState(useStore());
  useKeys("Compare", () => compareKeys(linked, sequence));
  return <PairTable linked={linked} built={built} />;
}

interface DifferenceCountsProps {
  readonly built: ReadonlySignal<Built | undefined>;
  readonly side: 0 | 1;
}

/** The number of messages of a side, and how many of them differ. */
function DifferenceCounts({ built, side }: DifferenceCountsProps): JSX.Element {
  const half = built.value?.halves[side];
  if (half === undefined) return <span class="compare-alone">Comparing…</span>;
  const { scene } = half;
  const { alone, worse } = half.tally;
  const different = [
    alone > 0 ? `${count(alone)} only here` : "",
    worse > 0 ? `${count(worse)} slower` : "",
  ].filter((text) => text !== "");
  const all = counted(scene.rows.length, "message", "messages");
  const words = different.length === 0 ? all : `${different.join(", ")} of ${all}`;
  return (
    <span class="compare-alone" title={words}>
      {words}
    </span>
  );
}

/** The settings of both diagrams. */
function PairBar({ linked }: { readonly linked: Linked | undefined }): JSX.Element {
  const store = useStore();
  const { down, timeStyle } = compareState(store).sequence;
  const comparison = store.comparison.value;
  return (
    <div class="sequence-bar" role="toolbar" aria-label="Both sequence diagrams">
      <Choice
        label="Time origin"
        title="Times since the first message of each recording, or on a common clock"
        value={comparison.alignment}
        options={{ start: "From the start of each", clock: "Common clock" }}
        onChoose={(alignment: "start" | "clock") => {
          store.comparison.value = { ...comparison, alignment };
        }}
      />
      <Choice
        label="Vertical axis"
        title="One line per pair of messages, or to scale with time (o)"
        value={down.value}
        options={{ order: "In order", time: "To scale" }}
        onChoose={(value: "order" | "time") => (down.value = value)}
      />
      <Choice
        label="Time format"
        title="Format of times (c)"
        value={timeStyle.value}
        options={{ start: "Since start", wall: "Time of day", delta: "Since last" }}
        onChoose={(value: "start" | "wall" | "delta") => (timeStyle.value = value)}
      />
      {linked === undefined ? null : <DifferenceButtons linked={linked} />}
    </div>
  );
}

function DifferenceButtons({ linked }: { readonly linked: Linked }): JSX.Element {
  const button = (text: string, title: string, run: () => void): JSX.Element => (
    <button type="button" class="sequence-toggle" title={title} onClick={run}>
      {text}
    </button>
  );
  return (
    <>
      {button("↑ Difference", "Previous difference (Shift+X)", () => linked.stepDifferent(-1))}
      {button("↓ Difference", "Next difference (x)", () => linked.stepDifferent(1))}
      {linked.shift.value === 0
        ? null
        : button("Realign", "Show the same time on both sides", () => linked.straighten())}
    </>
  );
}

const LABELS = ["Before", "After"] as const;
