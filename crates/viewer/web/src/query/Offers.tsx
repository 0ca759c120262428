// Suggestions for the text, as a list under the input.

import type { JSX } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import type { Completion } from "../generated/protocol";
import type { Offered } from "./useCompletion";

interface OffersProps {
  readonly offered: Offered | undefined;
  readonly onTake: (offer: Completion) => void;
}

/** The id of a suggestion, so that the input can name the active one. */
export function offerId(place: number): string {
  return `query-offer-${place}`;
}

export function Offers({ offered, onTake }: OffersProps): JSX.Element {
  const list = useRef<HTMLDivElement>(null);
  const marked = offered?.marked ?? -1;
  useLayoutEffect(() => {
    list.current?.children[marked]?.scrollIntoView({ block: "nearest" });
  }, [marked]);
  return (
    <div
      class="offers"
      id="query-offers"
      role="listbox"
      aria-label="Suggestions"
      hidden={offered === undefined}
      ref={list}
    >
      {offered?.offers.map((offer, place) => (
        <div
          key={offer.text}
          id={offerId(place)}
          class="offer"
          role="option"
          aria-selected={place === marked}
          // The input keeps the focus.
          onPointerDown={(event) => {
            event.preventDefault();
            onTake(offer);
          }}
        >
          <span class="offer-text">{offer.text}</span>
          <span class="offer-about">{offer.about}</span>
        </div>
      ))}
    </div>
  );
}
