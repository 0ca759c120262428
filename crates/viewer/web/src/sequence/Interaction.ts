// Pointer, wheel and keyboard input of the diagram.

import { signal } from "@preact/signals";
import { NONE } from "../model/recording";
import { type MenuItem, openMenu } from "../parts/Menu";
import type { Store } from "../state/store";
import type { Diagram } from "./Diagram";
import { LINE, yOfRow } from "./model/axis";
import type { DiagramHit } from "./model/hit";
import { itemsOf } from "./model/menu";
import { type NavigationStep, stepFrom } from "./model/navigate";
import { toggleGroup, toggleReference, toggleRun } from "./state";

/** An object of the diagram, and its position on the page. */
export interface Pointed {
  readonly hit: DiagramHit;
  readonly x: number;
  readonly y: number;
}

/** Handles the input events of the diagram. */
export class Interaction {
  /** The object under the resting pointer. */
  readonly rested = signal<Pointed | undefined>(undefined);
  private resting: ReturnType<typeof setTimeout> | undefined;
  private readonly listeners = new AbortController();

  constructor(
    private readonly scroller: HTMLElement,
    readonly diagram: Diagram,
    private readonly store: Store,
  ) {
    const { signal } = this.listeners;
    scroller.addEventListener("pointermove", this.pointed, { signal });
    scroller.addEventListener("pointerleave", this.left, { signal });
    scroller.addEventListener("scroll", this.left, { signal, passive: true });
    scroller.addEventListener("click", this.clicked, { signal });
    scroller.addEventListener("dblclick", this.doubleClicked, { signal });
    scroller.addEventListener("contextmenu", this.menuAsked, { signal });
    scroller.addEventListener("wheel", this.wheeled, { signal, passive: false });
    scroller.addEventListener("keydown", this.left, { signal });
  }

  /** Removes all listeners. */
  end(): void {
    clearTimeout(this.resting);
    this.listeners.abort();
  }

  /** Selects another message. */
  step(step: NavigationStep): void {
    const { diagram } = this;
    const { selected } = diagram;
    const from = selected === undefined ? undefined : stepFrom(diagram.scene.value, selected, step);
    const row = selected === undefined ? diagram.firstSeen() : from;
    if (row !== undefined) diagram.select(row);
  }

  /** Scrolls the selected message to the center. */
  focus(): void {
    const row = this.diagram.selected;
    if (row !== undefined) this.diagram.focus(row);
  }

  /**
   * Zooms the time axis around the selected message if it is visible, otherwise around the center.
   */
  zoom(factor: number): void {
    const { axis, geometry, scene, selected, viewport } = this.diagram;
    const y = selected === undefined ? undefined : yOfRow(scene.value, axis, selected);
    const down = y === undefined ? -1 : y - viewport.offset;
    const isSeen = down >= 0 && down <= viewport.view;
    this.diagram.zoom(factor, geometry.head + (isSeen ? down : viewport.view / 2));
  }

  /** Folds or unfolds the group of repetitions that the selected message begins. */
  fold(what: "fold" | "unfold"): void {
    const row = this.diagram.selected;
    if (row === undefined) return;
    const isUnfolded = this.diagram.subject.state.folding.value.unfolded.has(this.numberOf(row));
    if (isUnfolded === (what === "fold")) this.toggle(row);
  }

  /** Opens the menu of the selected message. */
  openMenu(event: KeyboardEvent): void {
    const row = this.diagram.selected;
    if (row === undefined) return;
    const { axis, geometry, scene, viewport } = this.diagram;
    const { left, top } = this.scroller.getBoundingClientRect();
    const down = (yOfRow(scene.value, axis, row) ?? 0) - viewport.offset + LINE / 2;
    const y = top + geometry.head + Math.min(Math.max(down, 0), viewport.view);
    openMenu(this.store.page, event, this.itemsFor({ is: "message", row }), {
      x: left + geometry.time,
      y,
    });
  }

  /** Makes the selected message the time reference, or resets the reference to the start. */
  toggleReference(): void {
    const { scene, selected, subject } = this.diagram;
    if (selected === undefined) return;
    toggleReference(subject.state, selected + 1 + scene.value.recording.before);
  }

  /** Scrolls horizontally to the invisible end of the selected message. */
  showFarEnd(): void {
    const row = this.diagram.selected;
    if (row !== undefined) this.diagram.showFarEnd(row);
  }

  /** Expands the merged columns at the ends of the selected message, or merges them again. */
  toggleGroups(): void {
    const { scene, selected, subject } = this.diagram;
    if (selected === undefined) return;
    const { columns, recording } = scene.value;
    const ends = [recording.from.get(selected), recording.to.get(selected)];
    const keys = ends.map((peer) => columns.all[columns.ofPeer[peer] ?? NONE]?.group?.key);
    const own = new Set(keys.filter((key) => key !== undefined));
    for (const key of own) toggleGroup(subject.state, key);
  }

  private goToEnd(row: number, lane: number): void {
    const { diagram } = this;
    const other = diagram.lanesOf(row).find((one) => one !== lane);
    diagram.select(row);
    diagram.showLane(lane, other);
  }

  private itemsFor(hit: DiagramHit): MenuItem[] {
    return itemsOf(this.store, this.diagram, hit);
  }

  private readonly pointed = (event: PointerEvent): void => {
    const hit = this.hitOf(event);
    this.diagram.hovered.value = hit.is === "nothing" || hit.is === "column" ? undefined : hit.row;
    this.scroller.style.cursor = hit.is === "nothing" ? "" : "pointer";
    this.rested.value = undefined;
    clearTimeout(this.resting);
    if (hit.is === "nothing" || event.pointerType === "touch") return;
    const pointed = { hit, x: event.clientX, y: event.clientY };
    this.resting = setTimeout(() => {
      this.rested.value = pointed;
    }, REST_MS);
  };

  private readonly left = (): void => {
    clearTimeout(this.resting);
    this.rested.value = undefined;
    this.diagram.hovered.value = undefined;
  };

  private readonly clicked = (event: MouseEvent): void => {
    const hit = this.hitOf(event);
    if (hit.is === "message") this.diagram.select(hit.row);
    else if (hit.is === "run") this.toggle(hit.row);
    else if (hit.is === "end") this.goToEnd(hit.row, hit.lane);
    else if (hit.is === "column") openMenu(this.store.page, event, this.itemsFor(hit));
  };

  private readonly doubleClicked = (event: MouseEvent): void => {
    const hit = this.hitOf(event);
    if (hit.is === "message") this.diagram.focus(hit.row);
  };

  private readonly menuAsked = (event: MouseEvent): void => {
    const hit = this.hitOf(event);
    this.left();
    if (hit.is !== "nothing" && hit.is !== "column") this.diagram.select(hit.row);
    openMenu(this.store.page, event, this.itemsFor(hit));
  };

  private readonly wheeled = (event: WheelEvent): void => {
    const { axis, viewport } = this.diagram;
    if (event.ctrlKey && axis.is === "time") {
      this.diagram.zoom(Math.exp(-event.deltaY / WHEEL_PIXELS), this.placeOf(event).y);
    } else if (viewport.isShortened && !event.shiftKey && !event.ctrlKey && event.deltaX === 0) {
      viewport.moveTo(viewport.offset + event.deltaY * this.wheelUnit(event));
    } else return;
    event.preventDefault();
  };

  /** The unit of wheel movements of an event, in pixels. */
  private wheelUnit({ deltaMode }: WheelEvent): number {
    if (deltaMode === WheelEvent.DOM_DELTA_PAGE) return this.diagram.viewport.view;
    return deltaMode === WheelEvent.DOM_DELTA_LINE ? LINE : 1;
  }

  private toggle(row: number): void {
    toggleRun(this.diagram.subject.state, this.numberOf(row));
  }

  private numberOf(row: number): number {
    return row + this.diagram.scene.value.recording.before;
  }

  private hitOf(event: MouseEvent): DiagramHit {
    const { x, y } = this.placeOf(event);
    return this.diagram.hit(x, y);
  }

  private placeOf(event: MouseEvent): { readonly x: number; readonly y: number } {
    const box = this.scroller.getBoundingClientRect();
    return { x: event.clientX - box.x, y: event.clientY - box.y };
  }
}

/** The pointer rests if it has not moved for this many milliseconds. */
const REST_MS = 350;
/** Pixels of wheel movement that zoom by the factor e. */
const WHEEL_PIXELS = 240;
