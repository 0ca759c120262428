// Dialogs above the page.

import type { Signal } from "@preact/signals";
import type { RefObject } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

/** What opens and closes a dialog, and what its element needs. */
export interface Modal {
  readonly ref: RefObject<HTMLDialogElement | null>;
  /** Closes it at once, and gives the focus back. */
  readonly close: () => void;
  readonly onClose: (event: Event) => void;
  readonly onClick: (event: Event) => void;
  readonly onKeyDown: (event: KeyboardEvent) => void;
}

/**
 * A dialog that keeps the focus while `isOpen`. It is open before the next key comes, so that what is
 * typed right after the key that opened it goes to the dialog.
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
    // The event comes late. By then, the next dialog may be open.
    onClose: (event) => {
      if (event.currentTarget === ref.current) isOpen.value = false;
    },
    // A click beside the dialog has the dialog itself as its target.
    onClick: (event) => {
      if (event.target === ref.current) close();
    },
    // A browser closes it later, and the next key would still go to it.
    onKeyDown: (event) => {
      if (event.key !== "Escape") return;
      event.preventDefault();
      close();
    },
  };
}
