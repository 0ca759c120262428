// Modal dialogs over the page.

import type { Signal } from "@preact/signals";
import type { RefObject } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

/** The attributes of a modal dialog's element, and a function that closes it. */
export interface Modal {
  readonly ref: RefObject<HTMLDialogElement | null>;
  /** Closes the dialog immediately and returns the focus to the previous element. */
  readonly close: () => void;
  readonly onClose: (event: Event) => void;
  readonly onClick: (event: Event) => void;
  readonly onKeyDown: (event: KeyboardEvent) => void;
}

/**
 * A modal dialog that is rendered while `isOpen` is true. It opens in the layout phase, before the
 * next key event, so that text typed right after the shortcut goes to the dialog.
 */
export function useModal(isOpen: Signal<boolean>): Modal {
  const ref = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => ref.current?.showModal(), []);
  const close = (): void => {
    ref.current?.close();
    isOpen.value = false;
  };
  return {
    ref,
    close,
    // The event is asynchronous, and the next dialog can be open when it arrives.
    onClose: (event) => {
      if (event.currentTarget === ref.current) isOpen.value = false;
    },
    // A click on the backdrop has the dialog itself as its target.
    onClick: (event) => {
      if (event.target === ref.current) close();
    },
    // The browser's own handling of Escape closes the dialog too late: the next key would still go
    // to it.
    onKeyDown: (event) => {
      if (event.key !== "Escape") return;
      event.preventDefault();
      close();
    },
  };
}
