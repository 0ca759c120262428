// The layout of the page: the header, the bars above the view, the view, and the panels next to it.

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

const VIEW_COMPONENTS: Record<ViewName, () => JSX.Element> = {
  sequence: SequenceView,
  statistics: StatisticsView,
  timeline: TimelineView,
  findings: FindingsView,
  compare: CompareView,
  objects: ObjectsView,
};

export function App(): JSX.Element {
  const store = useStore();
  const View = VIEW_COMPONENTS[store.view.value];
  useLayoutEffect(() => listenForKeys(store.page), [store]);
  return (
    <div class={`page page-${store.view.value}`}>
      <PageKeys />
      <SkipLink />
      <Header />
      <section class="bar" aria-label="Filter and counts">
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

/** A link for keyboard users that skips the header and the list of services. */
function SkipLink(): JSX.Element {
  // The fragment of the address contains the state of the page, so the link must not change it.
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

/**
 * Registers the page's keys before the keys of all other components, so that each of them can override
 * a key.
 */
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
  // On a live bus, the newest messages are always missing until the next selection arrives.
  const isLimited = store.query.value !== "" || store.hidden.value.size > 0 || span !== undefined;
  const isPart = shown !== all && (isLimited || !store.isLive.value);
  return (
    <output class="counts" title={countsTooltip(store.recorderNote.value)}>
      {isPart ? `${count(shown)} of ` : ""}
      {store.recording.value.before > 0 ? "the last " : ""}
      {counted(all, "message", "messages")}
      {store.isLive.value ? " since capture began" : ""}
    </output>
  );
}

/** The id of the view, which the skip link focuses. */
const MAIN = "main";

/** A tooltip that explains the counts, including messages of the recorder that are not counted. */
function countsTooltip(recorderNote: string | undefined): string {
  return recorderNote === undefined ? "Messages shown." : `Messages shown. ${recorderNote}.`;
}
