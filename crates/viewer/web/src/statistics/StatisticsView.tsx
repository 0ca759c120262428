// How often, how long, how large: numbers of what is selected.

import { signal } from "@preact/signals";
import type { JSX } from "preact";
import { BySubject } from "./BySubject";
import { Figures } from "./Figures";
import { Durations, Frequencies, Sizes } from "./MemberTabs";
import { Replies, Rules } from "./RulesAndReplies";
import { SummaryHead } from "./SummaryHead";
import { TrafficOverTime } from "./TrafficOverTime";

interface Tab {
  readonly name: string;
  readonly Content: () => JSX.Element;
}

const TABS: readonly Tab[] = [
  { name: "Frequencies", Content: Frequencies },
  { name: "Durations", Content: Durations },
  { name: "Sizes", Content: Sizes },
  { name: "By …", Content: BySubject },
  { name: "Figures", Content: Figures },
  { name: "Over time", Content: TrafficOverTime },
  { name: "Rules", Content: Rules },
  { name: "Replies", Content: Replies },
];

const chosen = signal(0);

export function StatisticsView(): JSX.Element {
  const { name, Content } = TABS[chosen.value] as Tab;
  return (
    <div class="statistics">
      <SummaryHead />
      <TabList />
      <div class="statistics-content" role="tabpanel" aria-label={name} key={name}>
        <Content />
      </div>
    </div>
  );
}

function TabList(): JSX.Element {
  const press = (event: KeyboardEvent): void => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    chosen.value = (chosen.value + step + TABS.length) % TABS.length;
    const list = event.currentTarget as HTMLElement;
    (list.children[chosen.value] as HTMLElement).focus();
  };
  return (
    <div class="subtabs" role="tablist" aria-label="Statistics" onKeyDown={press}>
      {TABS.map(({ name }, place) => (
        <button
          key={name}
          type="button"
          role="tab"
          class="subtab"
          aria-selected={place === chosen.value}
          tabIndex={place === chosen.value ? 0 : -1}
          onClick={() => {
            chosen.value = place;
          }}
        >
          {name}
        </button>
      ))}
    </div>
  );
}
