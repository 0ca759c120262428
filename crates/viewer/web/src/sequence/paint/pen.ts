// What every part of a drawing draws with.

import { lowerBound } from "../../state/visible";
import type { Axis } from "../model/axis";
import type { Geometry } from "../model/geometry";
import { laneOf, type Scene } from "../model/scene";
import type { Labels } from "./labels";
import type { Theme } from "./theme";

/** How times are told. */
export type TimeStyle = "start" | "wall" | "delta";

/** What of a canvas is drawn with, so that something else can be drawn on as well. */
export type Brush = Pick<
  CanvasRenderingContext2D,
  | "fillStyle"
  | "strokeStyle"
  | "lineWidth"
  | "globalAlpha"
  | "font"
  | "textAlign"
  | "textBaseline"
  | "beginPath"
  | "closePath"
  | "moveTo"
  | "lineTo"
  | "quadraticCurveTo"
  | "bezierCurveTo"
  | "arc"
  | "rect"
  | "roundRect"
  | "fill"
  | "stroke"
  | "clip"
  | "fillRect"
  | "strokeRect"
  | "fillText"
  | "setLineDash"
  | "save"
  | "restore"
  | "translate"
  | "rotate"
> & { measureText(text: string): TextWidth };

/** How wide a text is. */
export type TextWidth = Pick<TextMetrics, "width">;

/** A box of the canvas. */
export interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** The name of an end of a message that is outside of what is seen. */
export interface FarEnd extends Box {
  readonly row: number;
  /** Where the end is. */
  readonly lane: number;
}

/** All that a drawing depends on. Rows are {@link NONE} where there are none. */
export interface Pen {
  readonly context: Brush;
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
  /** Messages that were searched for: their rows, in order. */
  readonly hits: Uint32Array;
  readonly timeStyle: TimeStyle;
  /** The message from which times are told that are since the start otherwise; {@link NONE} if there is none. */
  readonly reference: number;
  /** What the drawing has written of ends that are outside of what is seen. */
  readonly farEnds: FarEnd[];
  /** Where the drawing has texts among the columns, so that none covers another. */
  readonly taken: Box[];
}

/** The lane of a connection where a message is; {@link NONE} if it has none there. */
export function lane({ axis, scene }: Pen, peer: number, row: number): number {
  return laneOf(scene, axis, peer, row);
}

/** Takes a box for a text, unless another one is there. */
export function claim({ taken }: Pen, box: Box): boolean {
  const covers = (other: Box): boolean =>
    box.x < other.x + other.width &&
    other.x < box.x + box.width &&
    box.y < other.y + other.height &&
    other.y < box.y + box.height;
  if (taken.some(covers)) return false;
  taken.push(box);
  return true;
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

/** Whether a message was searched for. */
export function isHit({ hits }: Pen, row: number): boolean {
  return hits.length > 0 && hits[lowerBound(hits, row)] === row;
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
export function stroke(context: Brush, x1: number, y1: number, x2: number, y2: number): void {
  context.beginPath();
  context.moveTo(x1, y1);
  context.lineTo(x2, y2);
  context.stroke();
}

/** Draws a text that begins at a place, on a line that it is in the middle of. */
export function write(
  context: Brush,
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
