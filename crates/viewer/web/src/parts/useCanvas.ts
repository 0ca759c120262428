// A canvas that is repainted when its inputs change, at most once per animation frame.

import { useSignal, useSignalEffect } from "@preact/signals";
import type { RefObject } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { useStore } from "../state/context";
import type { Colors } from "./colors";

/** The canvas context and its size in CSS pixels. */
export interface CanvasSheet {
  readonly context: CanvasRenderingContext2D;
  readonly width: number;
  readonly height: number;
  readonly colors: Colors;
}

/**
 * A canvas that fills its element. `prepare` reads signals and returns the function that paints; it
 * is called again when one of the signals changes.
 */
export function useCanvas(
  prepare: () => (sheet: CanvasSheet) => void,
): RefObject<HTMLCanvasElement | null> {
  const { colors } = useStore().page;
  const canvas = useRef<HTMLCanvasElement>(null);
  const size = useSignal({ width: 0, height: 0 });
  useLayoutEffect(() => {
    const { current } = canvas;
    if (current === null) return;
    const observer = new ResizeObserver(() => {
      size.value = { width: current.clientWidth, height: current.clientHeight };
    });
    observer.observe(current);
    return () => observer.disconnect();
  }, []);
  useSignalEffect(() => {
    const { width, height } = size.value;
    const painted = colors.value;
    const paint = prepare();
    const frame = requestAnimationFrame(() => {
      const context = canvas.current === null ? null : sized(canvas.current, width, height);
      if (context !== null) paint({ context, width, height, colors: painted });
    });
    return () => cancelAnimationFrame(frame);
  });
  return canvas;
}

/** Clears the canvas and scales it to CSS pixels; null if the canvas has no area. */
function sized(
  canvas: HTMLCanvasElement,
  width: number,
  height: number,
): CanvasRenderingContext2D | null {
  if (width === 0 || height === 0) return null;
  const [wide, high] = [
    Math.round(width * devicePixelRatio),
    Math.round(height * devicePixelRatio),
  ];
  if (canvas.width !== wide) canvas.width = wide;
  if (canvas.height !== high) canvas.height = high;
  const context = canvas.getContext("2d");
  context?.setTransform(devicePixelRatio, 0, 0, devicePixelRatio, 0, 0);
  context?.clearRect(0, 0, width, height);
  return context;
}
