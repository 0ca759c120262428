// Positions of elements that open over the page.

/**
 * Puts an element at a position of the page, or at the nearest position where it is completely
 * visible.
 */
export function intoView(element: HTMLElement, x: number, y: number): void {
  const { width, height } = element.getBoundingClientRect();
  element.style.left = `${Math.max(EDGE, Math.min(x, innerWidth - width - EDGE))}px`;
  const isRoomBelow = y + height + EDGE <= innerHeight;
  element.style.top = `${Math.max(EDGE, isRoomBelow ? y : y - height)}px`;
}

const EDGE = 6;
