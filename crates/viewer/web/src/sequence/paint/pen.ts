// The shared state of all parts of a drawing.

import { lowerBound } from "../../state/visible";
import type { Axis } from "../model/axis";
import type { Geometry } from "../model/geometry";
import { laneOf, type Scene } from "../model/scene";
import type { Labels } from "./labels";
import type { Theme } from "./theme";

/** The format of displayed times. */
export type TimeStyle = "start" | "wall" | "delta";

/** The functions of a canvas that drawing uses, so that drawing can have other targets. */
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

/** The width of a text. */
export type TextWidth = Pick<TextMetrics, "width">;

/** A rectangle of the canvas. */
export interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** The name of a sender or recipient that is not visible. */
export interface FarEnd extends Box {
  readonly row: number;
  /** The lane of the sender or recipient. */
  readonly lane: number;
}

/** All data that a drawing depends on. Missing rows are {@link NONE}. */
export interface Pen {
  readonly context: Brush;
  readonly labels: Labels;
  readonly theme: Theme;
  readonly scene: Scene;
  readonly geometry: Geometry;
  readonly axis: Axis;
  /** The position in the drawing of its upper edge, below the names of the columns. */
  readonly offset: number;
  readonly selected: number;
  /** The call of the selected reply, or the reply of the selected call. */
  readonly partner: number;
  /** The message under the pointer. */
  readonly hovered: number;
  /** The rows of search hits, in order. */
  readonly hits: Uint32Array;
  readonly timeStyle: TimeStyle;
  /** The time reference message; {@link NONE} if times count from the start. */
  readonly reference: number;
  /** The names of invisible senders and recipients that were drawn. */
  readonly farEnds: FarEnd[];
  /** The rectangles of texts among the columns, so that none covers another. */
  readonly taken: Box[];
}

/** The lane of a connection at a message; {@link NONE} if it has none there. */
export function lane({ axis, scene }: Pen, peer: number, row: number): number {
  return laneOf(scene, axis, peer, row);
}

/** Reserves a rectangle for a text, unless it overlaps another one. */
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

/** Converts a vertical position of the drawing to one of the canvas. */
export function onCanvas(pen: Pen, y: number): number {
  return y - pen.offset + pen.geometry.head;
}

/** The position in the drawing of its lower edge. */
export function bottomOf({ offset, geometry }: Pen): number {
  return offset + geometry.height - geometry.head;
}

/** True if the message is selected or the partner of the selected message. */
export function isMarked(pen: Pen, row: number): boolean {
  return row === pen.selected || row === pen.partner;
}

/** True if the message is a search hit. */
export function isHit({ hits }: Pen, row: number): boolean {
  return hits.length > 0 && hits[lowerBound(hits, row)] === row;
}

/** Draws with clipping to the area of the columns. */
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

/** Draws a text that starts at a position and is vertically centered. */
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
