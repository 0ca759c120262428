// Brings what is opened from afar to where it is seen.

import type { RefObject } from "preact";
import { useEffect, useRef } from "preact/hooks";

/** Has an element seen once it is open, as little as it has to move for that. */
export function useShownWhen<T extends HTMLElement>(isOpen: boolean): RefObject<T | null> {
  const element = useRef<T>(null);
  useEffect(() => {
    if (isOpen) element.current?.scrollIntoView({ block: "nearest" });
  }, [isOpen]);
  return element;
}
