// The list of names on the bus, and details of the owner of the selected name.

import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import type { Name } from "../generated/protocol";
import { count } from "../parts/format";
import { openMenu } from "../parts/Menu";
import { SeenText } from "../parts/SeenText";
import { oneLine } from "../parts/visibleText";
import { term } from "../query/terms";
import { useStore } from "../state/context";
import { moveFocus } from "./focus";
import { groupNames, isRunning, type NameGroup, ownerFacts, ownerText } from "./names";
import type { Session } from "./session";
import { trafficItems } from "./traffic";

interface NamesPaneProps {
  readonly session: Session;
}

export function NamesPane({ session }: NamesPaneProps): JSX.Element {
  const { value, problem, isWaiting } = session.names.state.value;
  const groups = groupNames(value ?? [], session.nameFilter.value);
  const isFound = groups.some(({ names }) => names.length > 0);
  return (
    <section class="objects-names" aria-label="Names" aria-busy={isWaiting}>
      <div class="objects-tools">
        <input
          type="search"
          placeholder="Filter names, programs, units"
          aria-label="Filter names"
          value={session.nameFilter.value}
          onInput={(event) => (session.nameFilter.value = event.currentTarget.value)}
        />
        <button
          type="button"
          title="Refresh (r)"
          aria-label="Refresh the names"
          onClick={() => void session.refreshNames()}
        >
          ⟳
        </button>
      </div>
      <div class="objects-list">
        {problem === undefined ? null : <p class="banner">{problem}</p>}
        {value !== undefined && !isFound ? <p class="empty">No name matches.</p> : null}
        {groups.map((group) => (
          <Group key={group.kind} group={group} session={session} />
        ))}
      </div>
      <OwnerDetails session={session} />
    </section>
  );
}

interface GroupProps extends NamesPaneProps {
  readonly group: NameGroup;
}

/**
 * The names of one kind. Unique names are initially collapsed because they are many and rarely
 * needed.
 */
function Group({ group, session }: GroupProps): JSX.Element | null {
  const isFolded = useSignal(group.kind === "connections");
  const isFiltered = session.nameFilter.value.trim() !== "";
  const isOpen = isFiltered || !isFolded.value;
  if (group.names.length === 0) return null;
  return (
    <div class="objects-group">
      <h2>
        <button
          type="button"
          class="section-fold"
          aria-expanded={isOpen}
          onClick={() => (isFolded.value = isOpen)}
        >
          <span>{group.title}</span>
          <span class="section-note">{count(group.names.length)}</span>
        </button>
      </h2>
      {isOpen ? (
        <ul aria-label={group.title}>
          {group.names.map((name) => (
            <NameLine key={name.name} name={name} session={session} />
          ))}
        </ul>
      ) : null}
    </div>
  );
}

function NameLine({ name, session }: NamesPaneProps & { readonly name: Name }): JSX.Element {
  const store = useStore();
  const isRun = isRunning(name);
  const items = () => trafficItems(store, [term("name", name.name)], name.name);
  return (
    <li>
      <button
        type="button"
        class={isRun ? "objects-name" : "objects-name idle"}
        aria-current={session.service.value === name.name}
        title={isRun ? oneLine(name.name) : `${oneLine(name.name)}: not running, activatable`}
        onClick={() => session.chooseService(name.name)}
        onKeyDown={(event) => moveFocus(event, ".objects-list", ".objects-name")}
        onContextMenu={(event) => openMenu(store.page, event, items())}
      >
        <span class="objects-name-text">{oneLine(name.name)}</span>
        <span class="objects-name-owner">{oneLine(ownerText(name.who))}</span>
      </button>
    </li>
  );
}

/** Details of the owner of the selected name. */
function OwnerDetails({ session }: NamesPaneProps): JSX.Element | null {
  const name = session.names.state.value.value?.find((one) => one.name === session.service.value);
  if (name === undefined) return null;
  return (
    <div class="objects-owner" role="group" aria-label={`Owner of ${name.name}`}>
      <dl>
        {ownerFacts(name).map(([label, text]) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd>
              <SeenText text={text} />
            </dd>
          </div>
        ))}
      </dl>
      {name.is_activatable ? <p class="note">The bus can start this service.</p> : null}
      {name.failure === undefined ? null : <p class="banner">{name.failure.sentence}</p>}
    </div>
  );
}
