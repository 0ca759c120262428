// What sends the like of a message, to be copied.

import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { copyText } from "../parts/copy";
import { SeenText } from "../parts/SeenText";
import { remembered } from "../state/remember";
import type { Command } from "./answer";

/** The program whose words are shown. */
const chosen = remembered("copy-as", "busctl", (kept) =>
  typeof kept === "string" ? kept : undefined,
);

export function Commands({ commands }: { readonly commands: readonly Command[] }): JSX.Element {
  const shown = commands.find(({ name }) => name === chosen.value) ?? commands[0];
  return (
    <>
      <div class="choices" role="group" aria-label="In the words of">
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
      {shown === undefined ? null : <Words key={shown.name} command={shown} />}
    </>
  );
}

function Words({ command }: { readonly command: Command }): JSX.Element {
  const isCopied = useSignal(false);
  if ("why" in command) return <p class="note">There is none: {command.why}.</p>;
  const text = command.text.trimEnd();
  const copy = async (): Promise<void> => {
    await copyText(text);
    isCopied.value = true;
    setTimeout(() => (isCopied.value = false), SAID_MS);
  };
  return (
    <div class="command">
      <pre tabIndex={0}>
        <SeenLines text={text} />
      </pre>
      <button type="button" class="plain" onClick={() => void copy()}>
        {isCopied.value ? "Copied" : "Copy"}
      </button>
    </div>
  );
}

/** Lines of a program; their ends need no mark. */
function SeenLines({ text }: { readonly text: string }): JSX.Element {
  return (
    <>
      {text.split("\n").map((line, place) => (
        <div key={place}>{line === "" ? " " : <SeenText text={line} />}</div>
      ))}
    </>
  );
}

const SAID_MS = 1500;
