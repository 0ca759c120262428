// What of the drawing is seen, and the native scroll bars for that.

import {
  clampOffset,
  type Extent,
  elementHeight,
  offsetAfter,
  offsetMax,
  scrollTopOf,
} from "./model/scroll";

/** What a viewport tells. */
export interface ViewportListener {
  /** Something else is seen. */
  moved(): void;
  /** Somebody has wished to see something else: not where it follows, or becomes larger or smaller. */
  led(): void;
}

/** What of a drawing of any height is seen in a scrolling element. */
export class Viewport {
  /** What of the drawing is at the top. */
  offset = 0;
  private extent: Extent = { content: 0, view: 0 };
  private scrollTop = 0;
  private size = "";
  private settling: ReturnType<typeof setTimeout> | undefined;

  /** How far it is moved sideways. */
  scrollX = 0;
  /** Pixels of the element without its scroll bars. Asking for these costs, so they are kept. */
  room = { width: 0, height: 0 };
  private readonly observer = new ResizeObserver(() => this.measure());

  constructor(
    private readonly scroller: HTMLElement,
    private readonly spacer: HTMLElement,
    private readonly told: ViewportListener,
  ) {
    this.measure();
    this.observer.observe(scroller);
    scroller.addEventListener("scroll", this.scrolled, { passive: true });
  }

  /** Lets go of the element. */
  end(): void {
    this.observer.disconnect();
    this.scroller.removeEventListener("scroll", this.scrolled);
    clearTimeout(this.settling);
  }

  /** The height of what is seen. */
  get view(): number {
    return this.extent.view;
  }

  /** Whether the end is seen. */
  get isAtEnd(): boolean {
    return this.offset >= offsetMax(this.extent) - END_SLACK;
  }

  /** Tells how large the drawing is, and how much of its height can be seen below its head. */
  resize(width: number, content: number, view: number, head: number): void {
    const size = `${width} ${content} ${view} ${head}`;
    if (size === this.size) return;
    this.size = size;
    this.extent = { content, view };
    this.spacer.style.width = `${width}px`;
    this.spacer.style.height = `${elementHeight(this.extent) + head}px`;
    this.put(this.offset);
  }

  /** Sees another part of the drawing. */
  moveTo(offset: number): void {
    this.put(offset);
    this.told.led();
  }

  /** Sees the part that another viewport sees. */
  follow(offset: number): void {
    if (clampOffset(this.extent, offset) !== this.offset) this.put(offset);
  }

  /** Whether the scroll bar is shorter than the drawing. Then it ends before the drawing does. */
  get isShortened(): boolean {
    return elementHeight(this.extent) < this.extent.content;
  }

  /** Sees the end. */
  moveToEnd(): void {
    this.moveTo(offsetMax(this.extent));
  }

  /** Moves as little as is needed for a stretch of the drawing to be seen. */
  reveal(top: number, bottom: number): void {
    const low = bottom + EDGE - this.extent.view;
    if (top - EDGE < this.offset) this.moveTo(top - EDGE);
    else if (low > this.offset) this.moveTo(low);
  }

  /** Moves sideways to a place of the drawing. */
  moveSideways(x: number): void {
    this.scroller.scrollLeft = x;
    this.scrollX = this.scroller.scrollLeft;
    this.told.moved();
    this.told.led();
  }

  /** Moves sideways as far as another viewport. */
  followSideways(x: number): void {
    if (x === this.scrollX) return;
    this.scroller.scrollLeft = x;
    this.scrollX = this.scroller.scrollLeft;
    this.told.moved();
  }

  private readonly scrolled = (): void => {
    const { scrollLeft, scrollTop } = this.scroller;
    // Where it was put is told later too.
    if (scrollTop === this.scrollTop && scrollLeft === this.scrollX) return;
    this.scrollX = scrollLeft;
    this.offset = offsetAfter(this.extent, this.offset, this.scrollTop, scrollTop);
    this.scrollTop = scrollTop;
    this.told.moved();
    this.told.led();
    clearTimeout(this.settling);
    this.settling = setTimeout(() => this.settle(), SETTLE_MS);
  };

  private measure(): void {
    this.room = { width: this.scroller.clientWidth, height: this.scroller.clientHeight };
    this.scrollX = this.scroller.scrollLeft;
    this.told.moved();
  }

  private put(offset: number): void {
    this.offset = clampOffset(this.extent, offset);
    this.settle();
    this.told.moved();
  }

  /** Puts the scroll bar where it belongs. */
  private settle(): void {
    clearTimeout(this.settling);
    const wanted = scrollTopOf(this.extent, this.offset);
    if (Math.abs(wanted - this.scroller.scrollTop) >= 1) this.scroller.scrollTop = wanted;
    this.scrollTop = this.scroller.scrollTop;
  }
}

/** After so long without a move nothing moves any more. */
const SETTLE_MS = 160;
/** Pixels that are seen above and below what is revealed. */
const EDGE = 40;
/** Nearer to the end than this is at the end. */
const END_SLACK = 4;
