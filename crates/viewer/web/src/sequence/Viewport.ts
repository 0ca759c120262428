// The visible part of the drawing, scrolled by native scroll bars.

import {
  clampOffset,
  type Extent,
  elementHeight,
  offsetAfter,
  offsetMax,
  scrollTopOf,
} from "./model/scroll";

/** Listener of a viewport. */
export interface ViewportListener {
  /** Called when the visible part has changed. */
  moved(): void;
  /** Called when the user has scrolled, but not when the viewport follows or is resized. */
  led(): void;
}

/** The visible part of a drawing of any height in a scrolling element. */
export class Viewport {
  /** The position in the drawing of the upper edge, in pixels. */
  offset = 0;
  private extent: Extent = { content: 0, view: 0 };
  private scrollTop = 0;
  private size = "";
  private settling: ReturnType<typeof setTimeout> | undefined;

  /** The horizontal scroll position in pixels. */
  scrollX = 0;
  /**
   * Size of the element without its scroll bars, in pixels. Reading it from the page is slow, so it
   * is cached.
   */
  room = { width: 0, height: 0 };
  private readonly observer = new ResizeObserver(() => this.measure());

  constructor(
    private readonly scroller: HTMLElement,
    private readonly spacer: HTMLElement,
    private readonly listener: ViewportListener,
  ) {
    this.measure();
    this.observer.observe(scroller);
    scroller.addEventListener("scroll", this.scrolled, { passive: true });
  }

  /** Removes the listeners from the element. */
  end(): void {
    this.observer.disconnect();
    this.scroller.removeEventListener("scroll", this.scrolled);
    clearTimeout(this.settling);
  }

  /** The height of the visible part. */
  get view(): number {
    return this.extent.view;
  }

  /** True if the end is visible. */
  get isAtEnd(): boolean {
    return this.offset >= offsetMax(this.extent) - END_SLACK;
  }

  /** Sets the size of the drawing, and the height of its visible part below the head. */
  resize(width: number, content: number, view: number, head: number): void {
    const size = `${width} ${content} ${view} ${head}`;
    if (size === this.size) return;
    this.size = size;
    this.extent = { content, view };
    this.spacer.style.width = `${width}px`;
    this.spacer.style.height = `${elementHeight(this.extent) + head}px`;
    this.put(this.offset);
  }

  /** Scrolls to another part of the drawing. */
  moveTo(offset: number): void {
    this.put(offset);
    this.listener.led();
  }

  /** Scrolls to the part that another viewport shows. */
  follow(offset: number): void {
    if (clampOffset(this.extent, offset) !== this.offset) this.put(offset);
  }

  /** True if the scroll bar is shorter than the drawing. Then it ends before the drawing does. */
  get isShortened(): boolean {
    return elementHeight(this.extent) < this.extent.content;
  }

  /** Scrolls to the end. */
  moveToEnd(): void {
    this.moveTo(offsetMax(this.extent));
  }

  /** Scrolls by the smallest distance that makes a part of the drawing visible. */
  reveal(top: number, bottom: number): void {
    const low = bottom + EDGE - this.extent.view;
    if (top - EDGE < this.offset) this.moveTo(top - EDGE);
    else if (low > this.offset) this.moveTo(low);
  }

  /** Scrolls horizontally to a position of the drawing. */
  moveSideways(x: number): void {
    this.scroller.scrollLeft = x;
    this.scrollX = this.scroller.scrollLeft;
    this.listener.moved();
    this.listener.led();
  }

  /** Scrolls horizontally to the position of another viewport. */
  followSideways(x: number): void {
    if (x === this.scrollX) return;
    this.scroller.scrollLeft = x;
    this.scrollX = this.scroller.scrollLeft;
    this.listener.moved();
  }

  private readonly scrolled = (): void => {
    const { scrollLeft, scrollTop } = this.scroller;
    // The page also reports scrolling by the viewport itself.
    if (scrollTop === this.scrollTop && scrollLeft === this.scrollX) return;
    this.scrollX = scrollLeft;
    this.offset = offsetAfter(this.extent, this.offset, this.scrollTop, scrollTop);
    this.scrollTop = scrollTop;
    this.listener.moved();
    this.listener.led();
    clearTimeout(this.settling);
    this.settling = setTimeout(() => this.settle(), SETTLE_MS);
  };

  private measure(): void {
    this.room = { width: this.scroller.clientWidth, height: this.scroller.clientHeight };
    this.scrollX = this.scroller.scrollLeft;
    this.listener.moved();
  }

  private put(offset: number): void {
    this.offset = clampOffset(this.extent, offset);
    this.settle();
    this.listener.moved();
  }

  /** Moves the scroll bar to the position of the drawing. */
  private settle(): void {
    clearTimeout(this.settling);
    const wanted = scrollTopOf(this.extent, this.offset);
    if (Math.abs(wanted - this.scroller.scrollTop) >= 1) this.scroller.scrollTop = wanted;
    this.scrollTop = this.scroller.scrollTop;
  }
}

/** Scrolling has ended after this many milliseconds without a movement. */
const SETTLE_MS = 160;
/** Pixels that stay visible above and below a revealed part. */
const EDGE = 40;
/** Distance in pixels from the end that counts as the end. */
const END_SLACK = 4;
