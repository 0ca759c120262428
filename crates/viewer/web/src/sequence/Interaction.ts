// What pointer, wheel and keys do with the diagram.

import { type Signal, signal } from "@preact/signals";
import type { Store } from "../state/store";
import type { Diagram } from "./Diagram";
import { yOfRow } from "./model/axis";
import { xOf } from "./model/geometry";
import type { Hit } from "./model/hit";
import { type Command, commandOf, type PlainCommand } from "./model/keys";
import { type Step, stepFrom } from "./model/navigate";
import {
  nextTimeStyle,
  type SequenceState,
  toggleDown,
  toggleFolding,
  togglePause,
  toggleRun,
} from "./state";

/** Something of the diagram, and where it is on the page. */
export interface Pointed {
  readonly hit: Hit;
  readonly x: number;
  readonly y: number;
}

/** Listens to the elements of the diagram. */
export class Interaction {
  /** What the pointer rests on. */
  readonly rested = signal<Pointed | undefined>(undefined);
  /** What a menu is open for. */
  readonly menu: Signal<Pointed | undefined> = signal(undefined);
  private resting: ReturnType<typeof setTimeout> | undefined;
  private readonly listeners = new AbortController();

  constructor(
    private readonly scroller: HTMLElement,
    private readonly diagram: Diagram,
    private readonly store: Store,
    private readonly state: SequenceState,
  ) {
    const { signal } = this.listeners;
    scroller.addEventListener("pointermove", this.pointed, { signal });
    scroller.addEventListener("pointerleave", this.left, { signal });
    scroller.addEventListener("scroll", this.left, { signal, passive: true });
    scroller.addEventListener("click", this.clicked, { signal });
    scroller.addEventListener("dblclick", this.doubleClicked, { signal });
    scroller.addEventListener("contextmenu", this.menuAsked, { signal });
    scroller.addEventListener("wheel", this.wheeled, { signal, passive: false });
    scroller.addEventListener("keydown", this.pressed, { signal });
  }

  /** Listens no more. */
  end(): void {
    clearTimeout(this.resting);
    this.listeners.abort();
  }

  private readonly pointed = (event: PointerEvent): void => {
    const hit = this.hitOf(event);
    this.diagram.hovered.value = hit.is === "message" || hit.is === "run" ? hit.row : undefined;
    this.scroller.style.cursor = hit.is === "nothing" ? "" : "pointer";
    this.rested.value = undefined;
    clearTimeout(this.resting);
    if (hit.is === "nothing" || event.pointerType === "touch") return;
    const pointed = { hit, x: event.clientX, y: event.clientY };
    this.resting = setTimeout(() => (this.rested.value = pointed), REST_MS);
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
    else if (hit.is === "column") this.menu.value = { hit, x: event.clientX, y: event.clientY };
  };

  private readonly doubleClicked = (event: MouseEvent): void => {
    const hit = this.hitOf(event);
    if (hit.is === "message") this.diagram.focus(hit.row);
  };

  private readonly menuAsked = (event: MouseEvent): void => {
    const hit = this.hitOf(event);
    if (hit.is === "nothing") return;
    event.preventDefault();
    this.left();
    if (hit.is !== "column") this.diagram.select(hit.row);
    this.menu.value = { hit, x: event.clientX, y: event.clientY };
  };

  private readonly wheeled = (event: WheelEvent): void => {
    if (!event.ctrlKey || this.diagram.axis.is !== "time") return;
    event.preventDefault();
    const { y } = this.placeOf(event);
    this.diagram.zoom(Math.exp(-event.deltaY / WHEEL_PIXELS), y);
  };

  private readonly pressed = (event: KeyboardEvent): void => {
    const command = commandOf(event);
    if (command === undefined || (command.do === "pause" && !this.store.isLive.value)) return;
    event.preventDefault();
    this.left();
    this.perform(command);
  };

  /** Does what a key asks for. */
  perform(command: Command): void {
    if (command.do === "step") this.step(command.step);
    else if (command.do === "pan") this.diagram.pan(command.by);
    else if (command.do === "zoom") this.diagram.zoom(command.factor, this.zoomCentre());
    else this.deeds[command.do]();
  }

  private readonly deeds: Readonly<Record<PlainCommand["do"], () => void>> = {
    first: () => this.diagram.viewport.moveTo(0),
    last: () => this.diagram.viewport.moveToEnd(),
    "order-or-time": () => toggleDown(this.state),
    folding: () => toggleFolding(this.state),
    "time-style": () => nextTimeStyle(this.state),
    pause: () => togglePause(this.state, this.store),
    clear: () => this.store.selectMessage(undefined),
    focus: () => this.onSelected((row) => this.diagram.focus(row)),
    menu: () => this.onSelected((row) => this.openMenu(row)),
    fold: () => this.onSelected((row) => this.fold(row, "fold")),
    unfold: () => this.onSelected((row) => this.fold(row, "unfold")),
  };

  private onSelected(act: (row: number) => void): void {
    const row = this.diagram.selected;
    if (row !== undefined) act(row);
  }

  private step(step: Step): void {
    const { diagram } = this;
    const { selected } = diagram;
    const from = selected === undefined ? undefined : stepFrom(diagram.scene.value, selected, step);
    const row = selected === undefined ? diagram.firstSeen() : from;
    if (row !== undefined) this.diagram.select(row);
  }

  /** Folds or unfolds the run that a message begins, if it is not yet. */
  private fold(row: number, what: "fold" | "unfold"): void {
    const { unfolded } = this.state.folding.value;
    const isUnfolded = unfolded.has(row + this.diagram.scene.value.recording.before);
    if (isUnfolded === (what === "fold")) this.toggle(row);
  }

  private toggle(row: number): void {
    toggleRun(this.state, row + this.diagram.scene.value.recording.before);
  }

  private openMenu(row: number): void {
    const { diagram, scroller } = this;
    const y = yOfRow(diagram.scene.value, diagram.axis, row);
    if (y === undefined) return;
    const box = scroller.getBoundingClientRect();
    const down = y - diagram.viewport.offset + diagram.geometry.head;
    const hit = { is: "message", row, column: undefined } as const;
    this.menu.value = { hit, x: box.x + xOf(diagram.geometry, 0), y: box.y + down };
  }

  /** Around the selected message if it is seen, else around the middle. */
  private zoomCentre(): number {
    const { axis, geometry, scene, viewport } = this.diagram;
    const row = this.diagram.selected;
    const y = row === undefined ? undefined : yOfRow(scene.value, axis, row);
    const down = y === undefined ? -1 : y - viewport.offset;
    return geometry.head + (down >= 0 && down <= viewport.view ? down : viewport.view / 2);
  }

  private hitOf(event: MouseEvent): Hit {
    const { x, y } = this.placeOf(event);
    return this.diagram.hit(x, y);
  }

  private placeOf(event: MouseEvent): { readonly x: number; readonly y: number } {
    const box = this.scroller.getBoundingClientRect();
    return { x: event.clientX - box.x, y: event.clientY - box.y };
  }
}

/** The pointer rests when it has not moved for so long. */
const REST_MS = 350;
/** A wheel that is turned by so many pixels makes time e times as large. */
const WHEEL_PIXELS = 240;
