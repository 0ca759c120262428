// Commands that send an equal message, to be copied.

import type { JSX } from "preact";
import type { CommandText } from "../generated/protocol";
import { CopyButton } from "../parts/CopyButton";
import { SeenText } from "../parts/SeenText";
import { useStore } from "../state/context";

export function Commands({ commands }: { readonly commands: readonly CommandText[] }): JSX.Element {
  const { copyAs: chosen } = useStore().page;
  const shown = commands.find(({ name }) => name === chosen.value) ?? commands[0];
  return (
    <>
      <div class="choices" role="group" aria-label="Format">
        {commands.map((command) => (
          <button
            key={command.name}
            type="button"
            aria-pressed={command === shown}
            class={"why" in command ? "none" : ""}
            onClick={() => (chosen.value = command.name)}
          >
            {command.name}
          </button>
        ))}
      </div>
      {shown === undefined ? null : <CommandBox key={shown.name} command={shown} />}
    </>
  );
}

function CommandBox({ command }: { readonly command: CommandText }): JSX.Element {
  if ("why" in command) return <p class="note">Not available: {command.why}.</p>;
  const text = command.text.trimEnd();
  return (
    <div class="command">
      <pre tabIndex={0}>
        <SeenLines text={text} />
      </pre>
      <CopyButton label="Copy" text={() => text} />
    </div>
  );
}

/** The lines of a command. Line breaks need no marks. */
function SeenLines({ text }: { readonly text: string }): JSX.Element {
  return (
    <>
      {text.split("\n").map((line, place) => (
        <div key={place}>{line === "" ? " " : <SeenText text={line} />}</div>
      ))}
    </>
  );
}
