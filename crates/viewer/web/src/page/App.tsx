// The frame of the page: what is above the views, and beside them.

import type { JSX } from "preact";
import { CompareView } from "../compare/CompareView";
import { DetailsPanel } from "../details/DetailsPanel";
import { FindingsView } from "../findings/FindingsView";
import { ObjectsView } from "../objects/ObjectsView";
import { Overview } from "../overview/Overview";
import { count, counted } from "../parts/format";
import { MenuHost } from "../parts/Menu";
import { QueryBar } from "../query/QueryBar";
import { SequenceView } from "../sequence/SequenceView";
import { ServicesPanel } from "../services/ServicesPanel";
import { useStore } from "../state/context";
import { VIEWS, type ViewName } from "../state/views";
import { StatisticsView } from "../statistics/StatisticsView";
import { TimelineView } from "../timeline/TimelineView";

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
  return (
    <div class="page">
      <Header />
      <div class="bar">
        <QueryBar />
        <Counts />
      </div>
      <div class="overview">
        <Overview />
      </div>
      <aside class="services" aria-label="Services">
        <ServicesPanel />
      </aside>
      <main class="view" aria-label={store.view.value}>
        <View />
      </main>
      <aside class="details" aria-label="Details">
        <DetailsPanel />
      </aside>
      <MenuHost />
    </div>
  );
}

function Header(): JSX.Element {
  const store = useStore();
  return (
    <header class="header">
      <h1 class="brand">Diligence</h1>
      <nav class="tabs" aria-label="Views">
        {VIEWS.map(({ name, title, about }) => (
          <button
            key={name}
            type="button"
            class="tab"
            aria-current={store.view.value === name ? "page" : undefined}
            title={about}
            onClick={() => (store.view.value = name)}
          >
            {title}
          </button>
        ))}
      </nav>
      <span class="title" title={store.title.value}>
        {store.title.value}
      </span>
      <ProgressMark />
    </header>
  );
}

function ProgressMark(): JSX.Element {
  const progress = useStore().progress.value;
  const why = "why" in progress ? progress.why : undefined;
  return (
    <span class={`progress progress-${progress.state}`} role="status" title={why}>
      {why ?? progress.state}
    </span>
  );
}

function Counts(): JSX.Element {
  const store = useStore();
  store.grown.value;
  const all = store.recording.value.length;
  const shown = store.visible.value.rows.length;
  return (
    <output class="counts">
      {shown === all ? "" : `${count(shown)} of `}
      {counted(all, "message", "messages")}
    </output>
  );
}
