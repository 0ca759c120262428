// Two recordings that were opened together: what is different, and both beside each other.

import { useComputed } from "@preact/signals";
import type { JSX } from "preact";
import { useKeys } from "../keys/useKeys";
import type { CompareTab } from "../state/comparison";
import { useStore } from "../state/context";
import type { Store } from "../state/store";
import { Differences } from "./Differences";
import { SideBySide } from "./SideBySide";
import { type Side, sidesOf } from "./sides";

interface Tab {
  readonly name: CompareTab;
  readonly title: string;
  readonly Content: (props: { readonly sides: readonly Side[] }) => JSX.Element;
}

const TABS: readonly Tab[] = [
  { name: "differences", title: "Differences", Content: Differences },
  { name: "sequences", title: "Side by side", Content: SideBySide },
];

export function CompareView(): JSX.Element {
  const store = useStore();
  const told = useComputed(() => {
    store.grown.value;
    return JSON.stringify(sidesOf(store.recording.value));
  });
  // The same sides are the same object, whatever comes.
  const sides = useComputed(() => JSON.parse(told.value) as readonly Side[]);
  if (sides.value.length < 2) return <HowToCompare />;
  const { tab } = store.comparison.value;
  const { title, Content } = TABS.find(({ name }) => name === tab) ?? (TABS[0] as Tab);
  return (
    <div class="compare">
      <TabList />
      <div class="compare-content" role="tabpanel" aria-label={title} key={tab}>
        <Content sides={sides.value} />
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

/** Shows the other tab. */
function toggleTab({ comparison }: Store): void {
  const { tab } = comparison.peek();
  const other = TABS.find(({ name }) => name !== tab)?.name ?? tab;
  comparison.value = { ...comparison.peek(), tab: other };
}

function TabList(): JSX.Element {
  const store = useStore();
  const comparison = store.comparison.value;
  useKeys("Compare", () => [
    {
      keys: ["v"],
      about: "Switch between differences and side by side",
      words: "tab table diagram",
      run: () => toggleTab(store),
    },
  ]);
  const choose = (tab: CompareTab): void => {
    store.comparison.value = { ...comparison, tab };
  };
  const press = (event: KeyboardEvent): void => {
    if (event.key !== "ArrowLeft" && event.key !== "ArrowRight") return;
    event.preventDefault();
    const place = TABS.findIndex(({ name }) => name !== comparison.tab);
    choose((TABS[place] as Tab).name);
    const list = event.currentTarget as HTMLElement;
    (list.children[place] as HTMLElement).focus();
  };
  return (
    <div class="subtabs" role="tablist" aria-label="Compare" onKeyDown={press}>
      {TABS.map(({ name, title }) => (
        <button
          key={name}
          type="button"
          role="tab"
          class="subtab"
          aria-selected={name === comparison.tab}
          tabIndex={name === comparison.tab ? 0 : -1}
          onClick={() => choose(name)}
        >
          {title}
        </button>
      ))}
    </div>
  );
}
