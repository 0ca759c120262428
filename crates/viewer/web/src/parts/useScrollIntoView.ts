// Scrolls an element into view when it opens.

import type { RefObject } from "preact";
import { useEffect, useRef } from "preact/hooks";

/** Scrolls an element into view when `isOpen` becomes true, by the shortest distance. */
export function useShownWhen<T extends HTMLElement>(isOpen: boolean): RefObject<T | null> {
  const element = useRef<T>(null);
  useEffect(() => {
    if (isOpen) element.current?.scrollIntoView({ block: "nearest" });
  }, [isOpen]);
  return element;
}
