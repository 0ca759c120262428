// Virtual lists, of which only the visible rows are in the document.

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

/** The visible rows of a list, and a function that scrolls to other rows. */
export interface VirtualRows {
  /** The visible rows, with their indices and offsets from the top of the scrolling element. */
  readonly items: readonly VirtualItem[];
  /** The height of the whole list in pixels. */
  readonly height: number;
  scrollTo(index: number): void;
}

/**
 * The visible rows of a list in a scrolling element. All rows have the same `height` in pixels. The
 * list begins `above` pixels below the top of the element, under a fixed head.
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
