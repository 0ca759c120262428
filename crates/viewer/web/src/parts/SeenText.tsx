// A text from a message, in which nothing is unseen.

import { useSignal } from "@preact/signals";
import { Fragment, type JSX } from "preact";
import { counted } from "./format";
import { pieces, stretches } from "./visibleText";

/** A text with marks for what is not seen in it; of a long one the beginning, and the rest on request. */
export function SeenText({ text }: { readonly text: string }): JSX.Element {
  const isWhole = useSignal(text.length <= TEXT_MAX);
  const told = isWhole.value ? text : text.slice(0, TEXT_MAX);
  return (
    <bdi class="seen">
      {stretches(told).map((stretch, place) =>
        stretch.isMark ? (
          <span key={place} class="unseen" title="A character that is not seen">
            {stretch.text}
          </span>
        ) : (
          <Broken key={place} text={stretch.text} />
        ),
      )}
      {isWhole.value ? null : (
        <button type="button" class="more-text" onClick={() => (isWhole.value = true)}>
          all {counted(text.length, "character", "characters")}
        </button>
      )}
    </bdi>
  );
}

/** A text that is broken where words of names end. */
function Broken({ text }: { readonly text: string }): JSX.Element {
  return (
    <>
      {pieces(text).map((piece, place) => (
        <Fragment key={place}>
          {place === 0 ? null : <wbr />}
          {piece}
        </Fragment>
      ))}
    </>
  );
}

/** Longer texts are cut at first. */
const TEXT_MAX = 1000;
