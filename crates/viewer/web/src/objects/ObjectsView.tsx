// What a running bus has to offer: names, objects, their members, calls and signals.

import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import { useStore } from "../state/context";
import { session } from "./address";
import { NamesPane } from "./NamesPane";
import { ObjectPane } from "./ObjectPane";
import { TreePane } from "./TreePane";

export function ObjectsView(): JSX.Element {
  const { bus } = useStore();
  return bus.value === "none" ? <NoBus /> : <Browser />;
}

/** A recording says what was sent, not what could be. */
function NoBus(): JSX.Element {
  return (
    <div class="objects-none">
      <h2>There is no running bus to ask</h2>
      <p>
        This page shows a recording: which messages there were. What services offer, with values,
        calls and signals, a bus tells while it runs.
      </p>
      <p>Start the page with a bus instead:</p>
      <pre>{LIVE}</pre>
    </div>
  );
}

function Browser(): JSX.Element {
  useEffect(() => session.follow(), []);
  return (
    <div class="objects">
      <NamesPane session={session} />
      <TreePane session={session} />
      <ObjectPane session={session} />
    </div>
  );
}

const LIVE =
  "diligence view --live                 look at the session bus\ndiligence view --live --allow-calls   and call methods, set properties";
