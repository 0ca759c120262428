// Pointer, wheel and keyboard input of the timeline.

import type { KeyBinding } from "../keys/keys";
import type { Span } from "../state/store";
import { hitAt } from "./hit";
import type { Timeline } from "./state";
import { timeAt } from "./stretch";

/** Pixels that the pointer moves before a click becomes a drag. */
const DRAG_LEAST = 4;
/** Zoom and scroll speed of held keys, per second. */
const ZOOM_SPEED = 4;
const PAN_SPEED = 0.9;
/** Zoom factor per wheel step. */
const WHEEL_SPEED = 0.002;

/** Handles pointer and wheel input. Returns a function that removes the listeners. */
export function attachInteraction(
  surface: HTMLElement,
  scroller: HTMLElement,
  timeline: Timeline,
): () => void {
  const ends = [pointerOn(surface, scroller, timeline), wheelOn(surface, timeline)];
  return () => {
    for (const end of ends) end();
  };
}

/** The action of a pressed pointer. */
type SurfaceDrag =
  | { readonly does: "pan"; readonly x: number; readonly y: number; isMoved: boolean }
  | { readonly does: "select"; readonly from: number };

function pointerOn(surface: HTMLElement, scroller: HTMLElement, timeline: Timeline): () => void {
  let drag: SurfaceDrag | undefined;
  let last = { x: 0, y: 0 };
  const pointOf = (event: PointerEvent): { x: number; y: number } => {
    const box = surface.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };
  const down = (event: PointerEvent): void => {
    if (event.button !== 0) return;
    last = pointOf(event);
    const from = timeAt(timeline.stretch.peek(), last.x);
    drag = event.shiftKey ? { does: "select", from } : { does: "pan", ...last, isMoved: false };
    surface.setPointerCapture(event.pointerId);
    scroller.focus({ preventScroll: true });
  };
  const move = (event: PointerEvent): void => {
    const point = pointOf(event);
    timeline.pointer.value = point;
    if (drag === undefined) hover(timeline, point);
    else if (drag.does === "select") timeline.band.value = bandTo(timeline, drag.from, point.x);
    else if (drag.isMoved || Math.abs(point.x - drag.x) + Math.abs(point.y - drag.y) > DRAG_LEAST) {
      drag.isMoved = true;
      timeline.pan((last.x - point.x) / timeline.stretch.peek().width);
      scroller.scrollTop += last.y - point.y;
      last = point;
    }
  };
  const up = (event: PointerEvent): void => {
    const done = drag;
    drag = undefined;
    if (done?.does === "select") finishBand(timeline);
    else if (done !== undefined && !done.isMoved && event.type === "pointerup") {
      const point = pointOf(event);
      hover(timeline, point);
      timeline.choose(timeline.hit.peek(), point.x);
    }
  };
  const leave = (): void => {
    timeline.pointer.value = undefined;
    timeline.hit.value = undefined;
  };
  const focus = (): void => timeline.focus();
  return listen(surface, {
    pointerdown: down,
    pointermove: move,
    pointerup: up,
    pointercancel: up,
    pointerleave: leave,
    dblclick: focus,
  });
}

function hover(timeline: Timeline, point: { x: number; y: number }): void {
  const stretch = timeline.stretch.peek();
  const hit = hitAt(timeline.layout.peek(), stretch, timeline.scroll.peek(), point);
  const before = timeline.hit.peek();
  const isSame =
    hit?.lanes === before?.lanes && hit?.first === before?.first && hit?.end === before?.end;
  if (!isSame) timeline.hit.value = hit;
}

function bandTo(timeline: Timeline, from: number, x: number): Span {
  const to = timeAt(timeline.stretch.peek(), x);
  return { from: Math.min(from, to), until: Math.max(from, to) };
}

function finishBand(timeline: Timeline): void {
  const band = timeline.band.peek();
  timeline.band.value = undefined;
  if (band !== undefined && band.until > band.from) timeline.look(band);
}

function wheelOn(surface: HTMLElement, timeline: Timeline): () => void {
  const wheel = (event: WheelEvent): void => {
    const { left } = surface.getBoundingClientRect();
    const { width } = timeline.stretch.peek();
    if (event.ctrlKey || event.metaKey) {
      timeline.zoom(Math.exp(event.deltaY * WHEEL_SPEED), event.clientX - left);
    } else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      timeline.pan((event.deltaX || event.deltaY) / width);
    } else return;
    event.preventDefault();
  };
  surface.addEventListener("wheel", wheel, { passive: false });
  return () => surface.removeEventListener("wheel", wheel);
}

/** The actions of held keys, per second. */
const HELD: Readonly<Record<string, Held>> = {
  w: {
    about: "Zoom in (hold)",
    move: (timeline, seconds) => timeline.zoom(ZOOM_SPEED ** -seconds, middle(timeline)),
  },
  s: {
    about: "Zoom out (hold)",
    move: (timeline, seconds) => timeline.zoom(ZOOM_SPEED ** seconds, middle(timeline)),
  },
  a: {
    about: "Scroll to earlier (hold)",
    move: (timeline, seconds) => timeline.pan(-PAN_SPEED * seconds),
  },
  d: {
    about: "Scroll to later (hold)",
    move: (timeline, seconds) => timeline.pan(PAN_SPEED * seconds),
  },
};

interface Held {
  readonly about: string;
  readonly move: (timeline: Timeline, seconds: number) => void;
}

function middle(timeline: Timeline): number {
  return timeline.pointer.peek()?.x ?? timeline.stretch.peek().width / 2;
}

/** The keyboard shortcuts of the timeline. */
export function timelineKeys(timeline: Timeline, holding: Holding): readonly KeyBinding[] {
  const once = (key: string, about: string, run: KeyBinding["run"]): KeyBinding => ({
    keys: [key],
    about,
    run,
  });
  return [
    ...Object.entries(HELD).map(([key, { about, move }]) =>
      // The command palette runs it without a key that could be released.
      once(key, about, (event) =>
        event.key.toLowerCase() === key ? holding.hold(key) : move(timeline, STEP_SECONDS),
      ),
    ),
    once("f", "Zoom to the selected message", () => timeline.focus()),
    once("m", "Add or remove a mark", () => timeline.mark()),
    once(".", "Next call of the same track", () => timeline.step(1)),
    once(",", "Previous call of the same track", () => timeline.step(-1)),
    once("0", "Zoom to the whole recording", () => timeline.look(undefined)),
  ];
}

/** Held keys, and their actions in each frame. */
export class Holding {
  private readonly keys = new Set<string>();
  private last = 0;

  constructor(private readonly timeline: Timeline) {}

  /** Starts the action of a key. */
  hold(key: string): void {
    if (this.keys.size === 0) {
      this.last = performance.now();
      requestAnimationFrame((now) => this.turn(now));
    }
    this.keys.add(key);
  }

  /** Ends actions when keys are released. Returns a function that removes the listeners. */
  follow(): () => void {
    const up = (event: KeyboardEvent): void => void this.keys.delete(event.key.toLowerCase());
    const blur = (): void => this.keys.clear();
    const ends = [listen(document, { keyup: up }), listen(window, { blur }), blur];
    return () => {
      for (const end of ends) end();
    };
  }

  private turn(now: number): void {
    if (this.keys.size === 0) return;
    const seconds = Math.min((now - this.last) / 1000, TURN_MAX);
    this.last = now;
    for (const key of this.keys) HELD[key]?.move(this.timeline, seconds);
    requestAnimationFrame((next) => this.turn(next));
  }
}

/** If an action is run once, a key counts as held for this many seconds. */
const STEP_SECONDS = 0.5;

/** Maximum duration of one frame, in seconds. */
const TURN_MAX = 0.1;

type Listeners = Readonly<Record<string, ((event: never) => void) | undefined>>;

function listen(target: EventTarget, listeners: Listeners): () => void {
  const all = Object.entries(listeners) as [string, EventListener][];
  for (const [name, listener] of all) target.addEventListener(name, listener);
  return () => {
    for (const [name, listener] of all) target.removeEventListener(name, listener);
  };
}
