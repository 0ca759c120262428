// Long lists of which only what is seen is there.

import { useSignal } from "@preact/signals";
import {
  elementScroll,
  observeElementOffset,
  observeElementRect,
  type VirtualItem,
  Virtualizer,
} from "@tanstack/virtual-core";
import type { RefObject } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

/** The rows that are seen of a list, and how to get to others. */
export interface VirtualRows {
  /** Their places, and how many pixels below the top of what scrolls they begin. */
  readonly items: readonly VirtualItem[];
  /** Pixels of the whole list. */
  readonly height: number;
  scrollTo(index: number): void;
}

/**
 * The rows of a list, all of one height in pixels, that are seen in a scrolling element. The list
 * begins `above` pixels below its top, under something that stays.
 */
export function useVirtualRows(
  scroller: RefObject<HTMLElement | null>,
  count: number,
  height: number,
  above = 0,
): VirtualRows {
  const turn = useSignal(0);
  turn.value;
  const ref = useRef<Virtualizer<HTMLElement, Element> | null>(null);
  const options = {
    count,
    getScrollElement: () => scroller.current,
    estimateSize: () => height,
    overscan: OVERSCAN,
    scrollMargin: above,
    scrollPaddingStart: above,
    scrollToFn: elementScroll,
    observeElementRect,
    observeElementOffset,
    onChange: () => {
      turn.value++;
    },
  };
  ref.current ??= new Virtualizer<HTMLElement, Element>(options);
  const virtualizer = ref.current;
  virtualizer.setOptions(options);
  useLayoutEffect(() => virtualizer._didMount(), [virtualizer]);
  useLayoutEffect(() => virtualizer._willUpdate());
  return {
    items: virtualizer.getVirtualItems(),
    height: virtualizer.getTotalSize(),
    scrollTo: (index) => virtualizer.scrollToIndex(index),
  };
}

const OVERSCAN = 8;
