// A button that copies a text and confirms it.

import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { copyText } from "./copy";

interface CopyButtonProps {
  /** The label of the button until it is pressed. */
  readonly label: string;
  readonly title?: string;
  /** Returns the text to copy when the button is pressed. */
  readonly text: () => string;
}

export function CopyButton({ label, title, text }: CopyButtonProps): JSX.Element {
  const isCopied = useSignal(false);
  const copy = async (): Promise<void> => {
    await copyText(text());
    isCopied.value = true;
    setTimeout(() => (isCopied.value = false), CONFIRMATION_MS);
  };
  return (
    <button type="button" class="plain" title={title} onClick={() => void copy()}>
      <span aria-live="polite">{isCopied.value ? "Copied" : label}</span>
    </button>
  );
}

const CONFIRMATION_MS = 1500;
