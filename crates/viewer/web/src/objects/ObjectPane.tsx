// The selected object: its members, its received signals, and the calls that were made.

import type { JSX } from "preact";
import type { BusObject } from "../generated/protocol";
import { count, duration } from "../parts/format";
import { openMenu } from "../parts/Menu";
import { oneLine } from "../parts/visibleText";
import { term } from "../query/terms";
import { useStore } from "../state/context";
import { CallList } from "./CallList";
import { InterfaceSection } from "./InterfaceSection";
import { isCommon } from "./objectTree";
import { SignalList } from "./SignalList";
import type { ObjectPlace, ObjectTab, Session } from "./session";
import { trafficItems } from "./traffic";

interface ObjectPaneProps {
  readonly session: Session;
}

export function ObjectPane({ session }: ObjectPaneProps): JSX.Element {
  const place = session.place.value;
  const { isWaiting } = session.object.state.value;
  return (
    <section class="objects-object" aria-label="Object" aria-busy={isWaiting}>
      {place === undefined ? null : <Title place={place} session={session} />}
      <Tabs session={session} />
      <Access />
      <div class="objects-list" key={`${place?.service} ${place?.path} ${session.tab.value}`}>
        <Shown session={session} />
      </div>
    </section>
  );
}

function Title({ place, session }: ObjectPaneProps & { readonly place: ObjectPlace }): JSX.Element {
  const store = useStore();
  const { service, path } = place;
  const took = session.object.state.value.value?.took_ns;
  const items = () => trafficItems(store, [term("name", service), term("path", path)], path);
  return (
    <div
      role="group"
      aria-label={path}
      class="objects-title"
      onContextMenu={(event) => openMenu(store.page, event, items())}
    >
      <h2>{oneLine(path)}</h2>
      <span class="note">
        {oneLine(service)}
        {took === undefined ? "" : `, loaded in ${duration(took)}`}
      </span>
      <button
        type="button"
        title="Refresh (r)"
        aria-label="Refresh the object"
        onClick={() => void session.refreshObject()}
      >
        ⟳
      </button>
      <button
        type="button"
        title="More"
        aria-label="More"
        onClick={(event) => openMenu(store.page, event, items())}
      >
        ⋯
      </button>
    </div>
  );
}

function Tabs({ session }: ObjectPaneProps): JSX.Element {
  const received = session.log.lines.value[0]?.number ?? 0;
  const tabs: readonly [ObjectTab, string][] = [
    ["members", "Members"],
    ["signals", `Signals ${received === 0 ? "" : count(received)}`],
    ["calls", `Calls ${session.history.value.length || ""}`],
  ];
  return (
    <div class="choices objects-tabs" role="group" aria-label="Parts of the object">
      {tabs.map(([tab, title]) => (
        <button
          key={tab}
          type="button"
          aria-pressed={session.tab.value === tab}
          onClick={() => (session.tab.value = tab)}
        >
          {title}
        </button>
      ))}
    </div>
  );
}

/**
 * Explains why calls are disabled. Calls can change the system, so the user must allow them at
 * startup.
 */
function Access(): JSX.Element | null {
  const { bus } = useStore();
  if (bus.value === "call") return null;
  return (
    <p class="note objects-access">
      Read-only. Restart with <code>--allow-calls</code> to call methods and set properties.
    </p>
  );
}

function Shown({ session }: ObjectPaneProps): JSX.Element {
  const { value, problem, isWaiting } = session.object.state.value;
  if (session.tab.value === "calls") return <CallList session={session} />;
  if (session.place.value === undefined) return <p class="empty">Select an object.</p>;
  if (session.tab.value === "signals") return <SignalList session={session} />;
  if (problem !== undefined) return <p class="banner">{problem}</p>;
  if (value === undefined) return <p class="empty">{isWaiting ? "Loading…" : ""}</p>;
  return <Members object={value} session={session} />;
}

/** The interfaces of an object. The standard interfaces come last. */
function Members({
  object,
  session,
}: ObjectPaneProps & { readonly object: BusObject }): JSX.Element {
  const own = object.interfaces.filter(({ name }) => !isCommon(name));
  const common = object.interfaces.filter(({ name }) => isCommon(name));
  const place = { service: object.service, path: object.path };
  return (
    <>
      {object.interfaces.length === 0 ? <p class="empty">The object has no interfaces.</p> : null}
      {[...own, ...common].map((one) => (
        <InterfaceSection key={one.name} one={one} place={place} session={session} />
      ))}
    </>
  );
}
