// How wide an element is, while it is there.

import { type Signal, useSignal } from "@preact/signals";
import type { RefObject } from "preact";
import { useLayoutEffect } from "preact/hooks";

/** The pixels that there are inside of an element; 0 until that is known. */
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
