// What every part of a drawing draws with.

import type { Axis } from "../model/axis";
import type { Geometry } from "../model/geometry";
import type { Scene } from "../model/scene";
import type { Labels } from "./labels";
import type { Theme } from "./theme";

/** How times are told. */
export type TimeStyle = "start" | "wall" | "delta";

/** All that a drawing depends on. Rows are {@link NONE} where there are none. */
export interface Pen {
  readonly context: CanvasRenderingContext2D;
  readonly labels: Labels;
  readonly theme: Theme;
  readonly scene: Scene;
  readonly geometry: Geometry;
  readonly axis: Axis;
  /** What of the drawing is at the top, below the names of the columns. */
  readonly offset: number;
  readonly selected: number;
  /** The call of the selected reply, or the reply of the selected call. */
  readonly partner: number;
  /** The message under the pointer. */
  readonly hovered: number;
  readonly timeStyle: TimeStyle;
}

/** Where in the canvas something of the drawing is. */
export function onCanvas(pen: Pen, y: number): number {
  return y - pen.offset + pen.geometry.head;
}

/** What of the drawing is at the bottom. */
export function bottomOf({ offset, geometry }: Pen): number {
  return offset + geometry.height - geometry.head;
}

/** Whether a message is one of the two that are pointed out. */
export function isMarked(pen: Pen, row: number): boolean {
  return row === pen.selected || row === pen.partner;
}

/** Draws what is only to be seen among the columns. */
export function amongColumns(pen: Pen, draw: () => void): void {
  const { context, geometry } = pen;
  context.save();
  context.beginPath();
  context.rect(geometry.left, geometry.head, geometry.width, geometry.height);
  context.clip();
  draw();
  context.restore();
}

/** Draws a straight line. */
export function stroke(
  context: CanvasRenderingContext2D,
  x1: number,
  y1: number,
  x2: number,
  y2: number,
): void {
  context.beginPath();
  context.moveTo(x1, y1);
  context.lineTo(x2, y2);
  context.stroke();
}

/** Draws a text that begins at a place, on a line that it is in the middle of. */
export function write(
  context: CanvasRenderingContext2D,
  text: string,
  x: number,
  y: number,
  font: string,
  color: string,
): void {
  context.font = font;
  context.fillStyle = color;
  context.fillText(text, x, y);
}
