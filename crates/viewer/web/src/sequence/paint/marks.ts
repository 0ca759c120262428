// Messages among the columns: arrows, dots and open ends.

import { isFailure, outcomeOf, type Pace, paceOf } from "../../model/outcome";
import { Kind, NONE, type Recording } from "../../model/recording";
import { isMerged } from "../model/columns";
import { nameOf } from "../model/describe";
import { xOf } from "../model/geometry";
import { columnOf, type Mark, markOf } from "../model/scene";
import { type Arrow, drawFarEnds, drawFarSender } from "./edges";
import { drawEnding } from "./endings";
import { type Brush, claim, isMarked, lane, type Pen, stroke, write } from "./pen";
import type { Theme } from "./theme";

/** The color of a symbol. */
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

/** The color of a slow call or of an error; undefined if it is neither. */
export function colorOfPace(theme: Theme, pace: Pace): string | undefined {
  return { quick: undefined, slow: theme.slow, "very-slow": theme.verySlow }[pace];
}

/** The color of a message: its symbol, and for calls and returns whether they took long. */
export function colorOfRow(theme: Theme, recording: Recording, row: number, mark: Mark): string {
  const isTimed = mark === "call" || mark === "return";
  const pace = isTimed ? paceOf(waitedOf(recording, row)) : "quick";
  return colorOfPace(theme, pace) ?? colorOfMark(theme, mark);
}

/** The time that the caller waited, for a call or its reply. */
export function waitedOf(recording: Recording, row: number): number | undefined {
  const call = recording.callOf(row);
  return call === NONE ? undefined : outcomeOf(recording, call).waited;
}

/** Draws a message that leaves at one height and arrives at another. */
export function drawMark(pen: Pen, row: number, y: number, arrival: number): void {
  const { context, scene, theme } = pen;
  const { recording } = scene;
  const mark = markOf(recording, row);
  const from = lane(pen, recording.from.get(row), row);
  const to = lane(pen, recording.to.get(row), row);
  const color = colorOfRow(theme, recording, row, mark);
  context.strokeStyle = color;
  context.fillStyle = color;
  context.lineWidth = isMarked(pen, row) ? 2.5 : 1.25;
  const arrow: Arrow = { row, from, to, y, arrival, color };
  if (mark === "lost") drawLost(pen, arrow);
  else if (mark === "call" || mark === "return" || mark === "error") drawArrow(pen, arrow);
  else if (mark === "directed") {
    drawArrow(pen, arrow);
    if (from !== NONE) dot(context, xOf(pen.geometry, from), y);
  } else drawSignal(pen, arrow, mark);
  if (mark === "error") drawBar(pen, arrow);
  if (recording.kind.get(row) === Kind.Call) drawCaller(pen, arrow);
}

function drawArrow(pen: Pen, arrow: Arrow): void {
  const { context, geometry, scene } = pen;
  const { from, to, y, arrival, row } = arrow;
  if (from === NONE && to === NONE) return;
  if (from === to) {
    drawToItself(context, xOf(geometry, from), y);
    drawFarEnds(pen, arrow, [to]);
    return;
  }
  // A message with an unknown sender or recipient has a short arrow beside the known one.
  const end = to === NONE ? xOf(geometry, from) + STUB : xOf(geometry, to);
  const start = from === NONE ? xOf(geometry, to) - STUB : xOf(geometry, from);
  stroke(context, start, y, end, arrival);
  arrowHead(context, start, y, end, arrival);
  if (to === NONE) drawStubName(pen, end, y, nameOf(scene.recording, scene.recording.to.get(row)));
  drawFarEnds(pen, arrow, [to]);
}

/** Draws the name at the end of an arrow that does not lead to a column. */
function drawStubName(pen: Pen, x: number, y: number, name: string): void {
  const { context, labels, theme } = pen;
  const label = labels.cut(name, theme.fonts.small, STUB_NAME);
  write(context, label.text, x + 8, y, theme.fonts.small, theme.soft);
}

function drawToItself(context: Brush, x: number, y: number): void {
  context.beginPath();
  context.moveTo(x, y - 4);
  context.bezierCurveTo(x + 26, y - 10, x + 26, y + 10, x + 3, y + 4);
  context.stroke();
  arrowHead(context, x + 20, y + 7, x + 1, y + 4);
}

/** Draws a call without a recipient: an open end with the name that has no owner. */
function drawLost(pen: Pen, arrow: Arrow): void {
  const { from, row, y } = arrow;
  if (from === NONE) return;
  const { context, geometry, scene } = pen;
  const x = xOf(geometry, from);
  const end = x + STUB;
  stroke(context, x, y, end - RADIUS, y);
  context.beginPath();
  context.arc(end, y, RADIUS, 0, 2 * Math.PI);
  context.stroke();
  stroke(context, end - 2, y - 2, end + 2, y + 2);
  stroke(context, end - 2, y + 2, end + 2, y - 2);
  const { recording } = scene;
  drawStubName(pen, end, y, recording.text(recording.destination.get(row)));
  drawFarSender(pen, arrow);
}

/**
 * Draws a bar across the end of an error, because color alone does not distinguish it from a slow
 * call.
 */
function drawBar(pen: Pen, { from, to, arrival }: Arrow): void {
  if (from === NONE || to === NONE || from === to) return;
  const { context, geometry } = pen;
  const x = xOf(geometry, to) + (from < to ? -BAR_FROM_END : BAR_FROM_END);
  context.lineWidth = 2;
  stroke(context, x, arrival - 5, x, arrival + 5);
}

/** Draws facts about the caller at its call: its name in a merged column, and a missing reply. */
function drawCaller(pen: Pen, { from, to, row, y }: Arrow): void {
  if (from === NONE) return;
  const { context, geometry, scene, theme } = pen;
  const { recording } = scene;
  const x = xOf(geometry, from);
  const outcome = outcomeOf(recording, row);
  if (!isFailure(outcome) || outcome.ending !== "failed") drawEnding(pen, outcome.ending, x, y);
  const peer = recording.from.get(row);
  const column = scene.columns.all[columnOf(scene, peer)];
  if (column === undefined || !isMerged(column)) return;
  const unique = recording.peers[peer]?.unique ?? "";
  const width = pen.labels.width(unique, theme.fonts.small);
  const left = to === NONE || to >= from ? x - 7 - width : x + 7;
  if (!claim(pen, { x: left, y: y - 15, width, height: 14 })) return;
  write(context, unique, left, y - 8, theme.fonts.small, theme.soft);
}

function drawSignal(pen: Pen, arrow: Arrow, mark: Mark): void {
  const { from, row, y } = arrow;
  if (from === NONE) return;
  const { context, geometry, theme } = pen;
  const x = xOf(geometry, from);
  if (mark === "received") drawCopies(pen, arrow, x);
  else drawFarSender(pen, { ...arrow, row });
  if (mark === "broadcast") drawRays(context, x, y);
  if (mark === "unreceived") ring(context, x, y, theme.paper);
  else dot(context, x, y);
}

/** Draws a line to each recipient of a copy with a column, and the number of other recipients. */
function drawCopies(pen: Pen, arrow: Arrow, x: number): void {
  const { context, geometry, scene, theme } = pen;
  const { arrival, row, y } = arrow;
  const lanes = new Set<number>();
  let others = 0;
  for (const peer of scene.recording.recipientsOf(row)) {
    const to = lane(pen, peer, row);
    if (to !== NONE) lanes.add(to);
    else if (scene.recording.peers[peer]?.recorder !== true) others++;
  }
  for (const to of lanes) {
    const end = xOf(geometry, to);
    if (end === x) drawToItself(context, x, y);
    else {
      stroke(context, x, y, end, arrival);
      arrowHead(context, x, y, end, arrival);
    }
  }
  drawFarEnds(pen, arrow, [...lanes]);
  if (others === 0) return;
  const right = Math.max(x, ...[...lanes].map((to) => xOf(geometry, to)));
  const text = lanes.size === 0 ? `to ${others}` : `and ${others} more`;
  write(context, text, right + 8, y - 8, theme.fonts.small, theme.signal);
}

function drawRays(context: Brush, x: number, y: number): void {
  stroke(context, x - RAY, y, x + RAY, y);
  stroke(context, x - RAY * 0.6, y - RAY * 0.5, x + RAY * 0.6, y + RAY * 0.5);
  stroke(context, x - RAY * 0.6, y + RAY * 0.5, x + RAY * 0.6, y - RAY * 0.5);
}

function dot(context: Brush, x: number, y: number): void {
  context.beginPath();
  context.arc(x, y, RADIUS, 0, 2 * Math.PI);
  context.fill();
}

function ring(context: Brush, x: number, y: number, inside: string): void {
  context.beginPath();
  context.arc(x, y, RADIUS - 0.5, 0, 2 * Math.PI);
  context.fillStyle = inside;
  context.fill();
  context.stroke();
}

/** Draws the head of an arrow from one position to another. */
export function arrowHead(
  context: Brush,
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
const STUB_NAME = 180;
const HEAD = 8;
const SPREAD = 0.42;
const BAR_FROM_END = 11;
