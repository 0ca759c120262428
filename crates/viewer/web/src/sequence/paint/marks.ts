// Messages among the columns: arrows, dots and open ends.

import { NONE } from "../../model/recording";
import { xOf } from "../model/geometry";
import { columnOf, type Mark, markOf } from "../model/scene";
import { isMarked, type Pen, stroke } from "./pen";
import type { Theme } from "./theme";

/** The colour of a message. */
export function colorOfMark(theme: Theme, mark: Mark): string {
  switch (mark) {
    case "call":
    case "lost":
      return theme.call;
    case "return":
      return theme.return;
    case "error":
      return theme.error;
    case "unknown":
      return theme.faint;
    default:
      return theme.signal;
  }
}

/** Draws a message that leaves at one height and arrives at another. */
export function drawMark(pen: Pen, row: number, y: number, arrival: number): void {
  const { context, scene, theme } = pen;
  const { recording } = scene;
  const mark = markOf(recording, row);
  const from = columnOf(scene, recording.from.get(row));
  const to = columnOf(scene, recording.to.get(row));
  const color = colorOfMark(theme, mark);
  context.strokeStyle = color;
  context.fillStyle = color;
  context.lineWidth = isMarked(pen, row) ? 2.5 : 1.25;
  if (mark === "lost") drawLost(pen, from, y);
  else if (mark === "call" || mark === "return" || mark === "error") {
    drawArrow(pen, from, to, y, arrival);
  } else if (mark === "directed") {
    drawArrow(pen, from, to, y, arrival);
    if (from !== NONE) dot(context, xOf(pen.geometry, from), y);
  } else drawSignal(pen, row, mark, from, y, arrival);
}

function drawArrow(pen: Pen, from: number, to: number, y: number, arrival: number): void {
  const { context, geometry } = pen;
  if (from === NONE && to === NONE) return;
  if (from === to) {
    drawToItself(context, xOf(geometry, from), y);
    return;
  }
  // Who has no column is hidden, or not known: the arrow comes from, or goes to, beside the other.
  const end = to === NONE ? xOf(geometry, from) + STUB : xOf(geometry, to);
  const start = from === NONE ? xOf(geometry, to) - STUB : xOf(geometry, from);
  stroke(context, start, y, end, arrival);
  arrowHead(context, start, y, end, arrival);
}

function drawToItself(context: CanvasRenderingContext2D, x: number, y: number): void {
  context.beginPath();
  context.moveTo(x, y - 4);
  context.bezierCurveTo(x + 26, y - 10, x + 26, y + 10, x + 3, y + 4);
  context.stroke();
  arrowHead(context, x + 20, y + 7, x + 1, y + 4);
}

/** A call to nobody ends in an open mark. */
function drawLost(pen: Pen, from: number, y: number): void {
  if (from === NONE) return;
  const { context, geometry } = pen;
  const x = xOf(geometry, from);
  const end = x + STUB;
  stroke(context, x, y, end - RADIUS, y);
  context.beginPath();
  context.arc(end, y, RADIUS, 0, 2 * Math.PI);
  context.stroke();
  stroke(context, end - 2, y - 2, end + 2, y + 2);
  stroke(context, end - 2, y + 2, end + 2, y - 2);
}

function drawSignal(
  pen: Pen,
  row: number,
  mark: Mark,
  from: number,
  y: number,
  arrival: number,
): void {
  if (from === NONE) return;
  const { context, geometry, theme } = pen;
  const x = xOf(geometry, from);
  if (mark === "heard") drawCopies(pen, row, x, y, arrival);
  if (mark === "broadcast") drawRays(context, x, y);
  if (mark === "unheard") ring(context, x, y, theme.paper);
  else dot(context, x, y);
}

/** A line to each connection that got a copy. */
function drawCopies(pen: Pen, row: number, x: number, y: number, arrival: number): void {
  const { context, geometry, scene } = pen;
  for (const peer of scene.recording.recipientsOf(row)) {
    const column = columnOf(scene, peer);
    if (column === NONE) continue;
    const end = xOf(geometry, column);
    if (end === x) {
      drawToItself(context, x, y);
      continue;
    }
    stroke(context, x, y, end, arrival);
    arrowHead(context, x, y, end, arrival);
  }
}

function drawRays(context: CanvasRenderingContext2D, x: number, y: number): void {
  stroke(context, x - RAY, y, x + RAY, y);
  stroke(context, x - RAY * 0.6, y - RAY * 0.5, x + RAY * 0.6, y + RAY * 0.5);
  stroke(context, x - RAY * 0.6, y + RAY * 0.5, x + RAY * 0.6, y - RAY * 0.5);
}

function dot(context: CanvasRenderingContext2D, x: number, y: number): void {
  context.beginPath();
  context.arc(x, y, RADIUS, 0, 2 * Math.PI);
  context.fill();
}

function ring(context: CanvasRenderingContext2D, x: number, y: number, inside: string): void {
  context.beginPath();
  context.arc(x, y, RADIUS - 0.5, 0, 2 * Math.PI);
  context.fillStyle = inside;
  context.fill();
  context.stroke();
}

function arrowHead(
  context: CanvasRenderingContext2D,
  fromX: number,
  fromY: number,
  x: number,
  y: number,
): void {
  const angle = Math.atan2(y - fromY, x - fromX);
  context.beginPath();
  context.moveTo(x, y);
  context.lineTo(x - HEAD * Math.cos(angle - SPREAD), y - HEAD * Math.sin(angle - SPREAD));
  context.lineTo(x - HEAD * Math.cos(angle + SPREAD), y - HEAD * Math.sin(angle + SPREAD));
  context.closePath();
  context.fill();
}

const RADIUS = 4;
const RAY = 13;
const STUB = 34;
const HEAD = 8;
const SPREAD = 0.42;
