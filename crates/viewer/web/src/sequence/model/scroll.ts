// Scrolls a drawing that is higher than the maximum height of an element, with a native scroll bar.
//
// Browsers limit elements to about ten million pixels, which is too little for a million messages.
// So the element behind the scroll bar is lower than the drawing. Small movements of wheels and
// fingers scroll the drawing by the same distance; large movements of the scroll bar scroll it in
// proportion. When scrolling ends, the scroll bar is moved to its exact position.

/** The relation of the scroll bar and the drawing. Offsets are positions of the upper edge. */
export interface Extent {
  /** Height of the drawing in pixels. */
  readonly content: number;
  /** Height of its visible part in pixels. */
  readonly view: number;
}

/** A height that every browser supports, on every screen. */
export const ELEMENT_MAX = 4_000_000;

/** The height of the element behind the scroll bar. */
export function elementHeight({ content }: Extent): number {
  return Math.min(content, ELEMENT_MAX);
}

/** The largest offset of the drawing. */
export function offsetMax({ content, view }: Extent): number {
  return Math.max(0, content - view);
}

/** Limits an offset to the valid range. */
export function clampOffset(extent: Extent, offset: number): number {
  return Math.min(Math.max(offset, 0), offsetMax(extent));
}

/** The position of the scroll bar for an offset. */
export function scrollTopOf(extent: Extent, offset: number): number {
  const max = offsetMax(extent);
  return max === 0 ? 0 : (offset / max) * scrollTopMax(extent);
}

/** The offset after the scroll bar has moved from one position to another. */
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

/** A movement of at most this many visible heights is small. */
const SMALL_VIEWS = 2;
