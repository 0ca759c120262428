// The objects view: names, objects, members, calls and signals of a running bus.

import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import { useKeys } from "../keys/useKeys";
import { useStore } from "../state/context";
import { sessionOf } from "./address";
import { NamesPane } from "./NamesPane";
import { ObjectPane } from "./ObjectPane";
import { OBJECTS_NOTES, objectsKeys } from "./objectsKeys";
import { TreePane } from "./TreePane";

export function ObjectsView(): JSX.Element {
  const { bus } = useStore();
  return bus.value === "none" ? <NoBus /> : <Browser />;
}

/** Shown for a recording, which has no objects to browse. */
function NoBus(): JSX.Element {
  return (
    <div class="objects-none">
      <h2>No live bus</h2>
      <p>This page shows a recording. Objects can only be browsed on a running bus.</p>
      <p>Start the page with a live bus instead:</p>
      <pre>{LIVE}</pre>
    </div>
  );
}

function Browser(): JSX.Element {
  const session = sessionOf(useStore());
  useEffect(() => session.follow(), [session]);
  useKeys("Objects", () => objectsKeys(session), OBJECTS_NOTES);
  return (
    <div class="objects">
      <NamesPane session={session} />
      <TreePane session={session} />
      <ObjectPane session={session} />
    </div>
  );
}

const LIVE =
  "diligence view --live                 browse the session bus\ndiligence view --live --allow-calls   also call methods and set properties";
