// Where things that open over the page are put.

/** Puts an element at a place of the page, or as near as it is whole to be seen. */
export function intoView(element: HTMLElement, x: number, y: number): void {
  const { width, height } = element.getBoundingClientRect();
  element.style.left = `${Math.max(EDGE, Math.min(x, innerWidth - width - EDGE))}px`;
  const isRoomBelow = y + height + EDGE <= innerHeight;
  element.style.top = `${Math.max(EDGE, isRoomBelow ? y : y - height)}px`;
}

const EDGE = 6;
