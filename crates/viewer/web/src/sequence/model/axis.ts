// Vertical positions of messages: one per line, or by their times.

import { slotAt } from "./clock";
import { lineOf, spanOf } from "./runs";
import type { Scene } from "./scene";
import { placeOf } from "./scene";

/** The meaning of the vertical axis. Pixels count from the top of the whole drawing. */
export type Axis =
  /** Each message has its own line. */
  | { readonly is: "order" }
  /** A linear time axis that starts at `from`, with `scale` pixels per nanosecond. */
  | { readonly is: "time"; readonly from: number; readonly until: number; readonly scale: number };

/** The height of a line in pixels. */
export const LINE = 34;

/** Space above the first and below the last message on a time axis, in pixels. */
export const MARGIN = 24;

/** The height of the whole drawing in pixels. */
export function contentHeight(scene: Scene, axis: Axis): number {
  if (axis.is === "order") return scene.lines.count * LINE;
  return (axis.until - axis.from) * axis.scale + 2 * MARGIN;
}

/**
 * The vertical position of a message, or of the line of its folded group. Undefined if it is not
 * displayed.
 */
export function yOfRow(scene: Scene, axis: Axis, row: number): number | undefined {
  if (axis.is === "time") return yOfTime(scene, axis, scene.recording.at.get(row));
  const place = placeOf(scene, row);
  return place === undefined ? undefined : yOfLine(lineOf(scene.lines, place));
}

/** The vertical center of a line. */
export function yOfLine(line: number): number {
  return (line + 0.5) * LINE;
}

/**
 * The vertical position of a time. If each message has a line, it is between the lines of the
 * messages before and after it.
 */
export function yOfTime(scene: Scene, axis: Axis, time: number): number {
  if (axis.is === "time") return (time - axis.from) * axis.scale + MARGIN;
  const slot = slotAt(scene.clock, time);
  if (slot >= scene.rows.length) return scene.lines.count * LINE;
  const line = lineOf(scene.lines, scene.clock.places[slot] as number);
  return spanOf(scene.lines, line) > 1 ? yOfLine(line) : line * LINE;
}

/** The time at a position of a time axis. */
export function timeAt(axis: Axis & { readonly is: "time" }, y: number): number {
  return (y - MARGIN) / axis.scale + axis.from;
}

/** A range of lines or of clock slots; the end is exclusive. */
export interface Range {
  readonly start: number;
  readonly end: number;
}

/** The lines that are at least partly visible. */
export function linesSeen(scene: Scene, top: number, bottom: number): Range {
  const start = Math.max(0, Math.floor(top / LINE));
  return { start, end: Math.min(scene.lines.count, Math.ceil(bottom / LINE)) };
}

/** The slots of the messages whose times are visible. */
export function slotsSeen(
  scene: Scene,
  axis: Axis & { readonly is: "time" },
  top: number,
  bottom: number,
): Range {
  const start = slotAt(scene.clock, timeAt(axis, top));
  return { start, end: slotAt(scene.clock, timeAt(axis, bottom)) };
}

/** The visible lines, on either axis. */
export function seenLines(scene: Scene, axis: Axis, top: number, bottom: number): Range {
  if (axis.is === "order") return linesSeen(scene, top, bottom);
  const { start, end } = slotsSeen(scene, axis, top, bottom);
  const lineAt = (slot: number): number => {
    const place = scene.clock.places[Math.min(slot, scene.rows.length - 1)];
    return place === undefined ? 0 : lineOf(scene.lines, place);
  };
  const first = lineAt(start);
  return { start: first, end: Math.max(first, lineAt(Math.max(start, end - 1))) + 1 };
}

/** Limits the scale: from a whole long recording down to one nanosecond per pixel. */
export function clampScale(scale: number, length: number, view: number): number {
  const whole = Math.max(1, view - 2 * MARGIN) / Math.max(1, length);
  return Math.min(Math.max(scale, Math.min(whole, 1)), 1);
}

/** A round step between time marks that are at least `pixels` apart. */
export function tickStep(scale: number, pixels: number): number {
  const wanted = pixels / scale;
  const power = 10 ** Math.floor(Math.log10(wanted));
  const step = [1, 2, 5, 10].find((factor) => factor * power >= wanted) ?? 10;
  return Math.max(1, step * power);
}
