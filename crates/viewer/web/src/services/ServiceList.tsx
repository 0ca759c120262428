// A list of services with checkboxes.

import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useId } from "preact/hooks";
import type { Peer } from "../generated/protocol";
import { count } from "../parts/format";
import { columnFacts } from "../sequence/model/describe";
import { onlyService } from "../sequence/model/menu";
import { drawable } from "../sequence/model/text";
import { useStore } from "../state/context";
import { colorOf } from "./hue";
import { type BusSection, type Messages, type Service, tickOf, toggled } from "./services";

interface SectionListProps {
  readonly section: BusSection;
  /** The displayed messages; undefined before they are counted. */
  readonly shown: Messages | undefined;
  /** True if there are no other buses. */
  readonly isAlone: boolean;
}

/** The services of a bus. */
export function SectionList({ section, shown, isAlone }: SectionListProps): JSX.Element {
  const { bus, services, others } = section;
  const all = [...services, ...others].flatMap(({ peers }) => peers);
  const label = useStore().recording.value.buses[bus]?.label ?? "";
  const isOpen = useSignal(false);
  return (
    <section aria-label={label}>
      {isAlone ? null : (
        <h2 class="services-bus">
          <TickBox label={label} peers={all} />
          {drawable(label)}
        </h2>
      )}
      <ServiceList services={services} shown={shown} />
      {others.length === 0 ? null : (
        <details
          open={isOpen.value}
          onToggle={(event) => (isOpen.value = event.currentTarget.open)}
        >
          <summary>
            <TickBox
              label="Connections without a name"
              peers={others.flatMap(({ peers }) => peers)}
            />
            {count(others.length)} others, without a name
          </summary>
          {isOpen.value ? <ServiceList services={others} shown={shown} /> : null}
        </details>
      )}
    </section>
  );
}

interface ServiceListProps extends Pick<SectionListProps, "shown"> {
  readonly services: readonly Service[];
}

function ServiceList({ services, shown }: ServiceListProps): JSX.Element {
  const more = services.length - LISTED_MAX;
  return (
    <ul class="services-list">
      {services.slice(0, LISTED_MAX).map((service) => (
        <ServiceLine key={service.key} service={service} shown={shown} />
      ))}
      {more > 0 ? <li class="services-none">{count(more)} more: find them by name</li> : null}
    </ul>
  );
}

interface ServiceLineProps extends Pick<SectionListProps, "shown"> {
  readonly service: Service;
}

function ServiceLine({ service, shown }: ServiceLineProps): JSX.Element {
  const store = useStore();
  const { label, peers, messages } = service;
  const id = useId();
  const seen = shown?.ofAll(peers) ?? messages;
  const [first] = peers;
  const facts = columnFacts(store.recording.value, service)
    .map(([name, value]) => `${name}: ${value}`)
    .join("\n");
  return (
    <li class="service" title={facts}>
      <label for={id}>
        <TickBox id={id} label={label} peers={peers} />
        <span class="service-dot" style={{ background: colorOf(label) }} />
        <Name label={label} />
        {peers.length > 1 ? <span class="service-more">×{peers.length}</span> : null}
      </label>
      <button
        type="button"
        class="service-only"
        title={`Only messages of ${drawable(label)}`}
        onClick={() => first !== undefined && onlyService(store, first)}
      >
        only
      </button>
      <span class={`service-count${seen === 0 ? " none" : ""}`}>{count(seen)}</span>
    </li>
  );
}

/** A name whose last word stays visible when space is short. */
function Name({ label }: { readonly label: string }): JSX.Element {
  const text = drawable(label);
  const end = /^[^\s:]+$/.test(text) ? text.lastIndexOf(".") + 1 : 0;
  return (
    <span class="service-name">
      <span class="service-stem">{text.slice(0, end)}</span>
      <span class="service-leaf">{text.slice(end)}</span>
    </span>
  );
}

interface TickBoxProps {
  readonly id?: string;
  readonly label: string;
  readonly peers: readonly Peer[];
}

function TickBox({ id, label, peers }: TickBoxProps): JSX.Element {
  const store = useStore();
  const tick = tickOf(peers, store.hidden.value);
  return (
    <input
      id={id}
      type="checkbox"
      aria-label={drawable(label)}
      checked={tick === "shown"}
      indeterminate={tick === "mixed"}
      onClick={(event) => event.stopPropagation()}
      onChange={() => store.setHidden(toggled(peers, store.hidden.value))}
    />
  );
}

/** Maximum number of services in the list. */
const LISTED_MAX = 400;
