import { useSignal } from "@preact/signals";
import type { ComponentChildren, JSX } from "preact";
import { copyText } from "../parts/copy";

interface CopyButtonProps {
  readonly text: () => string;
  readonly children: ComponentChildren;
}

/** Milliseconds for which a button says that it has copied. */
const SAID = 1500;

/** Puts a text where it can be pasted from. */
export function CopyButton({ text, children }: CopyButtonProps): JSX.Element {
  const said = useSignal<string | undefined>(undefined);
  const say = (words: string): void => {
    said.value = words;
    setTimeout(() => (said.value = undefined), SAID);
  };
  const copy = (): void => {
    void copyText(text()).then(() => say("Copied"));
  };
  return (
    <button type="button" class="copy" onClick={copy}>
      {said.value ?? children}
    </button>
  );
}
