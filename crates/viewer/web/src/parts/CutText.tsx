import type { JSX } from "preact";
import { isName } from "./names";
import { oneLine } from "./seen";

/** A text that is cut where there is no room for all of it: names at their begin, all else at its end. */
export function CutText({ text }: { readonly text: string }): JSX.Element {
  return (
    <span class={isName(text) ? "cut-text keeps-end" : "cut-text"}>
      <bdi dir="ltr">{oneLine(text)}</bdi>
    </span>
  );
}
