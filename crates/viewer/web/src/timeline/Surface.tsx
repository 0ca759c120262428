// The canvases of the timeline, with the names of tracks beside them.

import { useSignalEffect } from "@preact/signals";
import type { JSX, RefObject } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { useStore } from "../state/context";
import { draw } from "./draw";
import { Heads } from "./Heads";
import { attachInteraction } from "./interaction";
import { RULER } from "./layout";
import { drawOverlay } from "./overlay";
import type { TimelineScene } from "./scene";
import type { Timeline } from "./state";
import { Tip } from "./Tip";

/** All elements that move with the time axis. */
export function Surface({ timeline }: { readonly timeline: Timeline }): JSX.Element {
  const scroller = useRef<HTMLDivElement>(null);
  const surface = useRef<HTMLDivElement>(null);
  const base = useRef<HTMLCanvasElement>(null);
  const overlay = useRef<HTMLCanvasElement>(null);
  useSize(surface, timeline);
  useHands(surface, scroller, timeline);
  useDrawing(base, overlay, timeline);
  const { height } = timeline.size.value;
  const layout = timeline.layout.value;
  const rest = Math.max(RULER + layout.pinnedHeight + layout.height - height, 0);
  return (
    <div
      class="timeline-scroller"
      role="region"
      ref={scroller}
      tabIndex={0}
      aria-label="Tracks; the table of visible messages is below"
      onScroll={(event) => (timeline.scroll.value = event.currentTarget.scrollTop)}
    >
      <div class="timeline-fixed">
        <Heads timeline={timeline} />
        <div class="timeline-surface" ref={surface}>
          <canvas ref={base} />
          <canvas ref={overlay} />
          <Tip timeline={timeline} />
        </div>
      </div>
      <div style={{ height: `${rest}px` }} />
    </div>
  );
}

function useSize(surface: RefObject<HTMLDivElement | null>, timeline: Timeline): void {
  useLayoutEffect(() => {
    const element = surface.current;
    if (element === null) return;
    const measure = (): void => {
      timeline.size.value = { width: element.clientWidth, height: element.clientHeight };
    };
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    measure();
    return () => observer.disconnect();
  }, [surface, timeline]);
}

function useHands(
  surface: RefObject<HTMLDivElement | null>,
  scroller: RefObject<HTMLDivElement | null>,
  timeline: Timeline,
): void {
  useEffect(() => {
    const [element, scrolling] = [surface.current, scroller.current];
    if (element === null || scrolling === null) return;
    timeline.scrollTo = (top) => scrolling.scrollTo({ top });
    return attachInteraction(element, scrolling, timeline);
  }, [surface, scroller, timeline]);
}

/** Draws at most once per frame, and only after changes. */
function useDrawing(
  base: RefObject<HTMLCanvasElement | null>,
  overlay: RefObject<HTMLCanvasElement | null>,
  timeline: Timeline,
): void {
  const store = useStore();
  const scene = useRef<TimelineScene | undefined>(undefined);
  useSignalEffect(() => {
    scene.current = sceneOf(timeline);
    const drawn = scene.current;
    const canvas = base.current;
    if (drawn === undefined || canvas === null) return;
    return nextFrame(() => draw(contextOf(canvas, drawn), drawn));
  });
  useSignalEffect(() => {
    const drawn = sceneOf(timeline);
    const marks = {
      selected: store.selected.value,
      hit: timeline.hit.value,
      pointer: timeline.pointer.value?.x,
      band: timeline.band.value,
      marked: timeline.marked.value,
    };
    const canvas = overlay.current;
    if (drawn === undefined || canvas === null) return;
    return nextFrame(() => drawOverlay(contextOf(canvas, drawn), drawn, marks));
  });
}

function nextFrame(draw: () => void): () => void {
  const frame = requestAnimationFrame(draw);
  return () => cancelAnimationFrame(frame);
}

function sceneOf(timeline: Timeline): TimelineScene | undefined {
  const tracks = timeline.tracks.value;
  if (tracks === undefined) return undefined;
  return {
    recording: tracks.recording,
    tracks,
    colors: timeline.store.page.colors.value,
    layout: timeline.layout.value,
    stretch: timeline.stretch.value,
    scroll: timeline.scroll.value,
    height: timeline.size.value.height,
    processors: timeline.processors.value ?? [],
  };
}

/** A drawing context whose canvas has the resolution of the screen. */
function contextOf(
  canvas: HTMLCanvasElement,
  { stretch, height }: TimelineScene,
): CanvasRenderingContext2D {
  const scale = devicePixelRatio;
  const [width, tall] = [Math.round(stretch.width * scale), Math.round(height * scale)];
  if (canvas.width !== width || canvas.height !== tall) {
    canvas.width = width;
    canvas.height = tall;
  }
  const context = canvas.getContext("2d");
  if (context === null) throw new Error("this browser has no canvas");
  context.setTransform(scale, 0, 0, scale, 0, 0);
  return context;
}
