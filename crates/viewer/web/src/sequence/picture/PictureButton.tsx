// Saves the diagram as a picture.

import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import type { KeyBinding } from "../../keys/keys";
import { useKeys } from "../../keys/useKeys";
import { download } from "../../parts/download";
import { action, type MenuItem, openMenu } from "../../parts/openMenu";
import { useStore } from "../../state/context";
import type { Store } from "../../state/store";
import type { Diagram } from "../Diagram";
import { FORMATS, type Format, partOf, pictureOf, type Scope } from "./picture";

export function PictureButton({ diagram }: { readonly diagram: Diagram }): JSX.Element {
  const store = useStore();
  const problem = useSignal("");
  const save: Save = (scope, format) => {
    problem.value = "";
    savePicture(store, diagram, scope, format).catch((error: unknown) => {
      problem.value = `Not saved: ${error instanceof Error ? error.message : String(error)}`;
    });
  };
  useKeys("Picture", () => commandsOf(save));
  return (
    <>
      {problem.value === "" ? null : (
        <span class="missing" role="alert">
          {problem.value}
        </span>
      )}
      <button
        type="button"
        class="sequence-toggle"
        title="Save the diagram as PNG, SVG or PDF"
        aria-haspopup="menu"
        onClick={(event) => openMenu(store.page, event, itemsOf(diagram, save))}
      >
        Picture
      </button>
    </>
  );
}

type Save = (scope: Scope, format: Format) => void;

const SCOPES: Readonly<Record<Scope, string>> = {
  view: "Visible range",
  call: "Selected call",
  all: "All messages shown",
};

/**
 * The contents and formats that can be saved, as entries of the menu and of the command palette.
 */
function choices(): readonly { scope: Scope; format: Format; label: string }[] {
  const scopes = Object.entries(SCOPES) as [Scope, string][];
  return scopes.flatMap(([scope, what]) =>
    FORMATS.map((format) => ({ scope, format, label: `${what} as ${format.toUpperCase()}` })),
  );
}

function itemsOf(diagram: Diagram, save: Save): MenuItem[] {
  return choices()
    .filter(({ scope }) => partOf(diagram, scope) !== undefined)
    .map(({ scope, format, label }) => action(label, () => save(scope, format)));
}

function commandsOf(save: Save): KeyBinding[] {
  return choices().map(({ scope, format, label }) => ({
    keys: [],
    about: `Export a picture: ${label}`,
    run: () => save(scope, format),
  }));
}

async function savePicture(
  store: Store,
  diagram: Diagram,
  scope: Scope,
  format: Format,
): Promise<void> {
  diagram.refresh();
  const part = partOf(diagram, scope);
  if (part === undefined) throw new Error("no message is selected");
  const title = `${store.title.peek()}: sequence of messages`;
  download(`sequence.${format}`, await pictureOf(diagram, part, format, title));
}
