// The statistics view: counts, durations and sizes of the selected messages.

import type { JSX } from "preact";
import { useKeys } from "../keys/useKeys";
import { TabList } from "../parts/TabList";
import { useStore } from "../state/context";
import { BySubject } from "./BySubject";
import { Figures } from "./Figures";
import { Durations, Frequencies, Sizes } from "./MemberTabs";
import { Replies, Rules } from "./RulesAndReplies";
import { SummaryHead } from "./SummaryHead";
import { statisticsState, TABS, type TabName } from "./state";
import { statisticsKeys } from "./statisticsKeys";
import { TrafficOverTime } from "./TrafficOverTime";

interface StatisticsTab {
  readonly title: string;
  readonly Content: () => JSX.Element;
}

const CONTENTS: Readonly<Record<TabName, StatisticsTab>> = {
  frequencies: { title: "Counts", Content: Frequencies },
  durations: { title: "Durations", Content: Durations },
  sizes: { title: "Sizes", Content: Sizes },
  by: { title: "Group by", Content: BySubject },
  figures: { title: "Charts", Content: Figures },
  time: { title: "Over time", Content: TrafficOverTime },
  rules: { title: "Rules", Content: Rules },
  replies: { title: "Replies", Content: Replies },
};

export function StatisticsView(): JSX.Element {
  const state = statisticsState(useStore());
  const { tab } = state;
  const { title, Content } = CONTENTS[tab.value];
  useKeys("Statistics", () => statisticsKeys(state));
  return (
    <div class="statistics">
      <SummaryHead />
      <TabList
        label="Statistics"
        tabs={TABS.map((name) => ({ name, title: CONTENTS[name].title }))}
        shown={tab.value}
        onChoose={(name) => state.chooseTab(name)}
      />
      <div class="statistics-content" role="tabpanel" aria-label={title} key={tab.value}>
        <Content />
      </div>
    </div>
  );
}
