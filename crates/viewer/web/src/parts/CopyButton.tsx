// A button that copies a text, and says so.

import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { copyText } from "./copy";

interface CopyButtonProps {
  /** What it says before it was pressed. */
  readonly label: string;
  readonly title?: string;
  /** The text, as it is when the button is pressed. */
  readonly text: () => string;
}

export function CopyButton({ label, title, text }: CopyButtonProps): JSX.Element {
  const isCopied = useSignal(false);
  const copy = async (): Promise<void> => {
    await copyText(text());
    isCopied.value = true;
    setTimeout(() => (isCopied.value = false), SAID_MS);
  };
  return (
    <button type="button" class="plain" title={title} onClick={() => void copy()}>
      <span aria-live="polite">{isCopied.value ? "Copied" : label}</span>
    </button>
  );
}

const SAID_MS = 1500;
