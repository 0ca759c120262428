// The width of an element while it is mounted.

import { type Signal, useSignal } from "@preact/signals";
import type { RefObject } from "preact";
import { useLayoutEffect } from "preact/hooks";

/** The inner width of an element in pixels; 0 until it is measured. */
export function useWidth(element: RefObject<HTMLElement | null>): Signal<number> {
  const width = useSignal(0);
  useLayoutEffect(() => {
    const { current } = element;
    if (current === null) return;
    const measure = (): void => {
      width.value = current.clientWidth;
    };
    const observer = new ResizeObserver(measure);
    observer.observe(current);
    measure();
    return () => observer.disconnect();
  }, []);
  return width;
}
