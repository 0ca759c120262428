// Where messages are, from top to bottom: one below the other, or where their times are.

import { slotAt } from "./clock";
import { lineOf, spanOf } from "./runs";
import type { Scene } from "./scene";
import { placeOf } from "./scene";

/** What is down. Pixels are of the whole drawing, from its top. */
export type Axis =
  /** Each message has a line. */
  | { readonly is: "order" }
  /** Time goes down from a point of it, at so many pixels for each nanosecond. */
  | { readonly is: "time"; readonly from: number; readonly until: number; readonly scale: number };

/** Pixels of a line. */
export const LINE = 34;

/** Above and below the first and the last message where time goes down. */
export const MARGIN = 24;

/** Pixels of the whole drawing. */
export function contentHeight(scene: Scene, axis: Axis): number {
  if (axis.is === "order") return scene.lines.count * LINE;
  return (axis.until - axis.from) * axis.scale + 2 * MARGIN;
}

/** Where a message is; of a folded run its line. Undefined if it is not shown. */
export function yOfRow(scene: Scene, axis: Axis, row: number): number | undefined {
  if (axis.is === "time") return yOfTime(scene, axis, scene.recording.at.get(row));
  const place = placeOf(scene, row);
  return place === undefined ? undefined : yOfLine(lineOf(scene.lines, place));
}

/** The middle of a line. */
export function yOfLine(line: number): number {
  return (line + 0.5) * LINE;
}

/** Where a point of time is: in order, between the lines of the messages before and after it. */
export function yOfTime(scene: Scene, axis: Axis, time: number): number {
  if (axis.is === "time") return (time - axis.from) * axis.scale + MARGIN;
  const slot = slotAt(scene.clock, time);
  if (slot >= scene.rows.length) return scene.lines.count * LINE;
  const line = lineOf(scene.lines, scene.clock.places[slot] as number);
  return spanOf(scene.lines, line) > 1 ? yOfLine(line) : line * LINE;
}

/** The point of time that is at a place of an axis of time. */
export function timeAt(axis: Axis & { readonly is: "time" }, y: number): number {
  return (y - MARGIN) / axis.scale + axis.from;
}

/** Lines, or slots of the clock, from one to before another. */
export interface Range {
  readonly start: number;
  readonly end: number;
}

/** The lines that are seen, at least in part. */
export function linesSeen(scene: Scene, top: number, bottom: number): Range {
  const start = Math.max(0, Math.floor(top / LINE));
  return { start, end: Math.min(scene.lines.count, Math.ceil(bottom / LINE)) };
}

/** The slots of the messages whose times are seen. */
export function slotsSeen(
  scene: Scene,
  axis: Axis & { readonly is: "time" },
  top: number,
  bottom: number,
): Range {
  const start = slotAt(scene.clock, timeAt(axis, top));
  return { start, end: slotAt(scene.clock, timeAt(axis, bottom)) };
}

/** The lines of what is seen, whatever goes down. */
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

/** Scales that make sense: from all of a long recording down to a nanosecond for each pixel. */
export function clampScale(scale: number, length: number, view: number): number {
  const whole = Math.max(1, view - 2 * MARGIN) / Math.max(1, length);
  return Math.min(Math.max(scale, Math.min(whole, 1)), 1);
}

/** Steps between marks of time that people count in, so that there are `pixels` at least from one to the next. */
export function tickStep(scale: number, pixels: number): number {
  const wanted = pixels / scale;
  const power = 10 ** Math.floor(Math.log10(wanted));
  const step = [1, 2, 5, 10].find((factor) => factor * power >= wanted) ?? 10;
  return Math.max(1, step * power);
}
