// A text of a message in which invisible characters are marked.

import { useSignal } from "@preact/signals";
import { Fragment, type JSX } from "preact";
import { counted } from "./format";
import { pieces, stretches } from "./visibleText";

/**
 * A text with marks for invisible characters. A long text is cut, with a button that shows the
 * rest.
 */
export function SeenText({ text }: { readonly text: string }): JSX.Element {
  const isWhole = useSignal(text.length <= TEXT_MAX);
  const visible = isWhole.value ? text : text.slice(0, TEXT_MAX);
  return (
    <bdi class="seen">
      {stretches(visible).map((stretch, place) =>
        stretch.isMark ? (
          <span key={place} class="unseen" title="Invisible character">
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

/** A text that can break between the words of names. */
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

/** Longer texts are cut until the user asks for all of them. */
const TEXT_MAX = 1000;
