// A drawing that is higher than an element can be, behind a native scroll bar.
//
// Browsers cut elements off at some ten million pixels, which is less than a million messages need.
// So the element that makes the scroll bar is lower than the drawing. Small moves, of wheels and
// fingers, move the drawing by as much; large ones, of the scroll bar, move it in proportion. What
// both have drifted apart is mended when nothing moves.

/** How the scroll bar and the drawing belong together. Offsets are of what is at the top. */
export interface Extent {
  /** Pixels of the drawing. */
  readonly content: number;
  /** Pixels of it that are seen. */
  readonly view: number;
}

/** No browser cuts off an element of this height, whatever the pixels of the screen. */
export const ELEMENT_MAX = 4_000_000;

/** The height of the element. */
export function elementHeight({ content }: Extent): number {
  return Math.min(content, ELEMENT_MAX);
}

/** How far the drawing can be moved. */
export function offsetMax({ content, view }: Extent): number {
  return Math.max(0, content - view);
}

/** An offset that there is. */
export function clampOffset(extent: Extent, offset: number): number {
  return Math.min(Math.max(offset, 0), offsetMax(extent));
}

/** Where the scroll bar belongs for an offset. */
export function scrollTopOf(extent: Extent, offset: number): number {
  const max = offsetMax(extent);
  return max === 0 ? 0 : (offset / max) * scrollTopMax(extent);
}

/** The offset after the scroll bar has moved from one place to another. */
export function offsetAfter(extent: Extent, offset: number, from: number, to: number): number {
  const max = scrollTopMax(extent);
  if (max === 0) return 0;
  if (offsetMax(extent) === max) return clampOffset(extent, to);
  const isSmall = Math.abs(to - from) <= SMALL_VIEWS * extent.view;
  return isSmall ? clampOffset(extent, offset + to - from) : (to / max) * offsetMax(extent);
}

function scrollTopMax(extent: Extent): number {
  return Math.max(0, elementHeight(extent) - extent.view);
}

/** A move of no more than so many times what is seen is small. */
const SMALL_VIEWS = 2;
