// The compare view: the differences between two recordings, and both side by side.

import { useComputed } from "@preact/signals";
import type { JSX } from "preact";
import { useKeys } from "../keys/useKeys";
import { TabList } from "../parts/TabList";
import type { CompareTab } from "../state/comparison";
import { useStore } from "../state/context";
import type { Store } from "../state/store";
import { Differences } from "./Differences";
import { SideBySide } from "./SideBySide";
import { type Side, sidesOf } from "./sides";

interface ContentProps {
  readonly sides: readonly Side[];
}

interface ComparisonTab {
  readonly title: string;
  readonly Content: (props: ContentProps) => JSX.Element;
}

const CONTENTS: Readonly<Record<CompareTab, ComparisonTab>> = {
  differences: { title: "Differences", Content: Differences },
  sequences: { title: "Side by side", Content: SideBySide },
};
const TABS = [
  { name: "differences", title: CONTENTS.differences.title },
  { name: "sequences", title: CONTENTS.sequences.title },
] as const;

export function CompareView(): JSX.Element {
  const store = useStore();
  const serialized = useComputed(() => {
    store.grown.value;
    return JSON.stringify(sidesOf(store.recording.value));
  });
  // Keeps the same object while the sides are equal.
  const sides = useComputed(() => JSON.parse(serialized.value) as readonly Side[]);
  if (sides.value.length < 2) return <HowToCompare />;
  return <Comparison sides={sides.value} />;
}

function Comparison({ sides }: ContentProps): JSX.Element {
  const store = useStore();
  const { tab } = store.comparison.value;
  useKeys("Compare", () => [
    {
      keys: ["v"],
      about: "Switch between differences and side by side",
      words: "tab table diagram",
      run: () => toggleTab(store),
    },
  ]);
  const { title, Content } = CONTENTS[tab];
  return (
    <div class="compare">
      <TabList
        label="Compare"
        tabs={TABS}
        shown={tab}
        onChoose={(name) => {
          store.comparison.value = { ...store.comparison.peek(), tab: name };
        }}
      />
      <div class="compare-content" role="tabpanel" aria-label={title} key={tab}>
        <Content sides={sides} />
      </div>
    </div>
  );
}

function HowToCompare(): JSX.Element {
  return (
    <div class="empty">
      <p>Only one recording is open. To compare, open two:</p>
      <p>
        <code>diligence view BEFORE AFTER</code>
      </p>
      <p>Each keeps its clock, its buses and its connections. The filter applies to both.</p>
    </div>
  );
}

/** Switches to the other tab. */
function toggleTab({ comparison }: Store): void {
  const { tab } = comparison.peek();
  const other = TABS.find(({ name }) => name !== tab)?.name ?? tab;
  comparison.value = { ...comparison.peek(), tab: other };
}
