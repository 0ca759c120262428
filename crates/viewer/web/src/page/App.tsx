// The frame of the page: what is above the views, and beside them.

import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import { CompareView } from "../compare/CompareView";
import { DetailsAside } from "../details/DetailsAside";
import { FindingsView } from "../findings/FindingsView";
import { KeySheet } from "../keys/KeySheet";
import { Palette } from "../keys/Palette";
import { listenForKeys, useKeys } from "../keys/useKeys";
import { ObjectsView } from "../objects/ObjectsView";
import { Overview } from "../overview/Overview";
import { count, counted } from "../parts/format";
import { MenuHost } from "../parts/Menu";
import { Chips } from "../query/Chips";
import { QueryBar } from "../query/QueryBar";
import { SequenceView } from "../sequence/SequenceView";
import { ServicesAside, ServicesButton } from "../services/ServicesAside";
import { useStore } from "../state/context";
import type { ViewName } from "../state/views";
import { StatisticsView } from "../statistics/StatisticsView";
import { TimelineView } from "../timeline/TimelineView";
import { Header } from "./Header";
import { pageKeys } from "./pageKeys";

const PARTS: Record<ViewName, () => JSX.Element> = {
  sequence: SequenceView,
  statistics: StatisticsView,
  timeline: TimelineView,
  findings: FindingsView,
  compare: CompareView,
  objects: ObjectsView,
};

export function App(): JSX.Element {
  const store = useStore();
  const View = PARTS[store.view.value];
  useEffect(listenForKeys, []);
  return (
    <div class="page">
      <PageKeys />
      <Header />
      <div class="bar">
        <QueryBar />
        <Chips />
        <ServicesButton />
        <Counts />
      </div>
      <div class="overview">
        <Overview />
      </div>
      <ServicesAside />
      <main class="view" aria-label={store.view.value}>
        <View />
      </main>
      <DetailsAside />
      <MenuHost />
      <KeySheet />
      <Palette />
    </div>
  );
}

/** Comes before all other parts, so that each of them can have a key of the page for itself. */
function PageKeys(): null {
  const store = useStore();
  useKeys("Everywhere", () => pageKeys(store));
  return null;
}

function Counts(): JSX.Element {
  const store = useStore();
  store.grown.value;
  const all = store.recording.value.length;
  const shown = store.visible.value.rows.length;
  // Of a bus there are always some that were not asked for yet.
  const isLimited = store.query.value !== "" || store.hidden.value.size > 0;
  const isPart = shown !== all && (isLimited || !store.isLive.value);
  return (
    <output class="counts" title="Messages that are shown; what the recorder itself asked is not">
      {isPart ? `${count(shown)} of ` : ""}
      {store.recording.value.before > 0 ? "the last " : ""}
      {counted(all, "message", "messages")}
    </output>
  );
}
