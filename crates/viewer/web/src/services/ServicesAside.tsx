// The panel of services: beside the view if there is space, otherwise over it on request.

import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { useStore } from "../state/context";
import { ServicesPanel } from "./ServicesPanel";

export function ServicesAside(): JSX.Element {
  const { isServicesOpen: isOpen } = useStore().page;
  const close = useRef<HTMLButtonElement>(null);
  const putAway = (): void => {
    isOpen.value = false;
    document.getElementById(BUTTON)?.focus();
  };
  const isOver = isOpen.value;
  useEffect(() => {
    if (isOver) close.current?.focus();
  }, [isOver]);
  const press = (event: KeyboardEvent): void => {
    if (event.key !== "Escape" || !isOpen.peek() || event.defaultPrevented) return;
    event.preventDefault();
    putAway();
  };
  return (
    <aside
      id={ID}
      class={isOver ? "services services-over" : "services"}
      aria-label="Services"
      onKeyDown={press}
    >
      <button type="button" class="plain services-close" ref={close} onClick={putAway}>
        Close
      </button>
      <ServicesPanel />
    </aside>
  );
}

/** A button that opens the panel if it does not fit beside the view. */
export function ServicesButton(): JSX.Element {
  const store = useStore();
  const { isServicesOpen: isOpen } = store.page;
  const hidden = store.hidden.value.size;
  return (
    <button
      type="button"
      id={BUTTON}
      class="plain services-button"
      aria-expanded={isOpen.value}
      aria-controls={ID}
      onClick={() => (isOpen.value = !isOpen.value)}
    >
      Services{hidden === 0 ? "" : ` (${hidden} hidden)`}
    </button>
  );
}

const ID = "services";
const BUTTON = "services-button";
