// The frame of the page: what is above the views, and beside them.

import type { JSX } from "preact";
import { useLayoutEffect } from "preact/hooks";
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
import { Empty } from "../query/Empty";
import { FindBar } from "../query/FindBar";
import { QueryBar } from "../query/QueryBar";
import { SequenceView } from "../sequence/SequenceView";
import { ServicesAside, ServicesButton } from "../services/ServicesAside";
import { useStore } from "../state/context";
import { VIEWS, type ViewName } from "../state/views";
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
  useLayoutEffect(() => listenForKeys(store.page), [store]);
  return (
    <div class={`page page-${store.view.value}`}>
      <PageKeys />
      <SkipLink />
      <Header />
      <section class="bar" aria-label="What is shown">
        <QueryBar />
        <Chips />
        <ServicesButton />
        <Counts />
      </section>
      <section class="overview" aria-label="Traffic">
        <Overview />
      </section>
      <ServicesAside />
      <main
        class={store.isBusy.value ? "view view-busy" : "view"}
        id={MAIN}
        tabIndex={-1}
        aria-label={titleOf(store.view.value)}
        aria-busy={store.isBusy.value}
      >
        <View />
        <FindBar />
        <Empty />
      </main>
      <DetailsAside />
      <MenuHost />
      <KeySheet />
      <Palette />
    </div>
  );
}

/** Leads past the head of the page and the list of services, which may be long. */
function SkipLink(): JSX.Element {
  // The part of the address behind # holds what is shown.
  const skip = (event: Event): void => {
    event.preventDefault();
    document.getElementById(MAIN)?.focus();
  };
  return (
    <a class="skip" href={`#${MAIN}`} onClick={skip}>
      Skip to the view
    </a>
  );
}

/** Comes before all other parts, so that each of them can have a key of the page for itself. */
function PageKeys(): null {
  const store = useStore();
  useKeys("Everywhere", () => pageKeys(store));
  return null;
}

function titleOf(view: ViewName): string {
  return VIEWS.find(({ name }) => name === view)?.title ?? view;
}

function Counts(): JSX.Element {
  const store = useStore();
  store.grown.value;
  const span = store.span.value;
  const shown = store.shown.value.length;
  const all = store.isLive.value ? Math.max(shown, store.total.value) : store.total.value;
  // Of a bus there are always some that were not asked for yet.
  const isLimited = store.query.value !== "" || store.hidden.value.size > 0 || span !== undefined;
  const isPart = shown !== all && (isLimited || !store.isLive.value);
  return (
    <output class="counts" title={aboutCounts(store.recorderNote.value)}>
      {isPart ? `${count(shown)} of ` : ""}
      {store.recording.value.before > 0 ? "the last " : ""}
      {counted(all, "message", "messages")}
      {store.isLive.value ? " since watching began" : ""}
    </output>
  );
}

/** Where the view is, for the link that leads there. */
const MAIN = "main";

/** What is counted, and how many messages of the recorder are not. */
function aboutCounts(recorderNote: string | undefined): string {
  return recorderNote === undefined ? "Messages shown." : `Messages shown. ${recorderNote}.`;
}
