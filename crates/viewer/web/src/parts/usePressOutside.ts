// Closes popups when the pointer is pressed outside of them.

import { useEffect } from "preact/hooks";

/** Calls `close` when the pointer is pressed outside of an element while `isOpen` is true. */
export function usePressOutside(
  ref: { readonly current: Element | null },
  isOpen: boolean,
  close: () => void,
): void {
  useEffect(() => {
    if (!isOpen) return;
    const press = ({ target }: PointerEvent): void => {
      if (!(target instanceof Node && ref.current?.contains(target))) close();
    };
    addEventListener("pointerdown", press, true);
    return () => removeEventListener("pointerdown", press, true);
  });
}
