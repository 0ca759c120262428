// The services of the recording with checkboxes.

import { type ReadonlySignal, useSignal, useSignalEffect } from "@preact/signals";
import type { JSX } from "preact";
import { useMemo, useRef } from "preact/hooks";
import { inSlices } from "../overview/slices";
import { sequenceState } from "../sequence/state";
import { useStore } from "../state/context";
import { restingRows, useFound } from "../statistics/queries";
import { moveFocus } from "./keys";
import { SectionList } from "./ServiceList";
import {
  type BusSection,
  inverted,
  Messages,
  type Service,
  ServiceTraffic,
  type Sorting,
  sectionsOf,
  servicesOf,
} from "./services";

/**
 * Filters by service. Unchecking a service hides its column and all its messages: calls that it
 * makes or receives, their replies, and its signals.
 */
export function ServicesPanel(): JSX.Element {
  const store = useStore();
  const { grouping } = sequenceState(store);
  const services = useServices();
  const wanted = useSignal("");
  const sorting = useSignal<Sorting>("traffic");
  const sections = sectionsOf(services, wanted.value, sorting.value);
  const shown = useShown().value;
  return (
    <div class="services-panel" role="group" aria-label="Services" onKeyDown={moveFocus}>
      <div class="services-bar">
        <input
          type="search"
          placeholder="Find a service"
          aria-label="Find a service"
          value={wanted.value}
          onInput={(event) => (wanted.value = event.currentTarget.value)}
        />
        <Ticks sections={sections} />
        <div class="services-choices">
          <select
            aria-label="Group services by"
            value={grouping.value}
            onChange={(event) =>
              (grouping.value = event.currentTarget.value === "process" ? "process" : "connection")
            }
          >
            <option value="connection">By service</option>
            <option value="process">By process</option>
          </select>
          <select
            aria-label="Sort services by"
            value={sorting.value}
            onChange={(event) =>
              (sorting.value = event.currentTarget.value === "name" ? "name" : "traffic")
            }
          >
            <option value="traffic">Busiest</option>
            <option value="name">By name</option>
          </select>
        </div>
      </div>
      {sections.map((section) => (
        <SectionList
          key={section.bus}
          section={section}
          shown={shown}
          isAlone={sections.length === 1}
        />
      ))}
      {sections.length === 0 && wanted.value !== "" ? (
        <p class="services-none">No service matches.</p>
      ) : null}
    </div>
  );
}

/** The checkboxes of all listed services. */
function Ticks({ sections }: { readonly sections: readonly BusSection[] }): JSX.Element {
  const store = useStore();
  const hidden = store.hidden.value;
  const listed = sections.flatMap(({ services, others }) => [...services, ...others]);
  const peers = listed.flatMap((service) => service.peers);
  const ids = peers.map(({ id }) => id);
  const unlisted = [...hidden].filter((id) => !ids.includes(id));
  const button = (title: string, about: string, after: () => Iterable<number>): JSX.Element => (
    <button
      type="button"
      class="sequence-toggle"
      title={about}
      onClick={() => store.setHidden(after())}
    >
      {title}
    </button>
  );
  return (
    <div class="services-choices">
      {button("All", "Show all listed services", () => unlisted)}
      {button("None", "Hide all listed services", () => [...unlisted, ...ids])}
      {button("Invert", "Show hidden services and hide the others", () => [
        ...unlisted,
        ...inverted(peers, hidden),
      ])}
      {hidden.size === 0 ? null : <span class="services-hidden">{hidden.size} hidden</span>}
    </div>
  );
}

/** The services with their messages, counted at most a few times per second. */
function useServices(): readonly Service[] {
  const store = useStore();
  const by = sequenceState(store).grouping.value;
  const turn = useSignal(0);
  const traffic = useRef(new ServiceTraffic(store.recording.peek()));
  const counting = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const count = (): void => {
    counting.current = undefined;
    const recording = store.recording.peek();
    if (traffic.current.recording !== recording) traffic.current = new ServiceTraffic(recording);
    traffic.current.count();
    turn.value++;
  };
  useSignalEffect(() => {
    void [store.grown.value, store.recording.value];
    // Count soon after the first messages, and then only at intervals.
    counting.current ??= setTimeout(count, turn.peek() === 0 ? 0 : PAUSE_MS);
  });
  const now = turn.value;
  return useMemo(() => (now === 0 ? [] : servicesOf(traffic.current, by)), [now, by]);
}

/** The displayed messages of each connection; undefined before they are counted. */
function useShown(): ReadonlySignal<Messages | undefined> {
  const store = useStore();
  return useFound(async (abort) => {
    const recording = store.recording.peek();
    const rows = restingRows(store);
    const span = store.span.peek() ?? ALWAYS;
    const messages = new Messages();
    const step = (from: number, to: number): void => {
      for (let at = from; at < to; at++) {
        const row = rows[at] as number;
        // The displayed rows may belong to a recording that had more messages.
        if (row >= recording.length) continue;
        const time = recording.at.get(row);
        if (time >= span.from && time < span.until) messages.add(recording, row);
      }
    };
    return (await inSlices(rows.length, step, abort)) ? messages : undefined;
  });
}

/** The whole recording. */
const ALWAYS = { from: Number.NEGATIVE_INFINITY, until: Number.POSITIVE_INFINITY };

const PAUSE_MS = 250;
