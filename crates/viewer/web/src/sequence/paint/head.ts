// The names of the columns, which stay above the columns.

import { NONE } from "../../model/recording";
import { colorOf } from "../../services/hue";
import { seenLines } from "../model/axis";
import type { Column } from "../model/columns";
import { columnsSeen, TURN, turnedWidth, xOf } from "../model/geometry";
import { drawable } from "../model/text";
import { bottomOf, type Pen, stroke, write } from "./pen";

/** Draws the names of the columns, and the headings of the fixed parts on the left. */
export function drawHead(pen: Pen): void {
  const { context, geometry, theme } = pen;
  context.fillStyle = theme.ground;
  context.fillRect(0, 0, geometry.width, geometry.head);
  context.save();
  context.beginPath();
  context.rect(geometry.left, 0, geometry.width, geometry.head);
  context.clip();
  const { start, end } = columnsSeen(geometry);
  let bus: number | undefined;
  for (let place = start; place < end; place++) {
    const column = columnIn(pen, place);
    if (column === undefined) continue;
    drawColumnName(pen, column, xOf(geometry, place));
    if (column.bus !== bus) drawBusName(pen, column.bus, xOf(geometry, place));
    ({ bus } = column);
  }
  context.restore();
  context.strokeStyle = theme.line;
  context.lineWidth = 1;
  stroke(context, 0, geometry.head - 0.5, geometry.width, geometry.head - 0.5);
  drawTitles(pen);
}

/** The first column of a lane in the visible part. */
function columnIn(pen: Pen, lane: number): Column | undefined {
  const { axis, scene } = pen;
  const { start, end } = seenLines(scene, axis, pen.offset, bottomOf(pen));
  const stay = scene.placement.lanes(axis.is).firstIn(lane, start, end);
  return stay && scene.columns.all[stay.column];
}

function drawTitles(pen: Pen): void {
  const { context, geometry, theme } = pen;
  const y = geometry.head - 13;
  context.textAlign = "right";
  write(context, titleOfTimes(pen), geometry.time - 8, y, theme.fonts.small, theme.soft);
  context.textAlign = "left";
  write(context, "Message", geometry.time, y, theme.fonts.small, theme.soft);
}

function titleOfTimes({ reference, timeStyle }: Pen): string {
  return timeStyle === "start" && reference !== NONE ? "From reference" : TITLES[timeStyle];
}

function drawColumnName(pen: Pen, column: Column, x: number): void {
  if (pen.geometry.headStyle === "turned") drawTurned(pen, column, x);
  else drawStraight(pen, column, x);
}

function drawStraight(pen: Pen, column: Column, x: number): void {
  const { context, geometry, labels, theme } = pen;
  const { head } = theme.fonts;
  const label = labels.cut(column.label, head, geometry.gap - 24);
  const left = x - (label.width + 14) / 2;
  const y = geometry.head / 2;
  drawDot(pen, column, left + 4, y);
  write(context, label.text, left + 14, y, head, inkOf(pen, column));
}

/** If there are several buses, writes the name of the bus above its first column. */
function drawBusName({ context, geometry, scene, theme }: Pen, bus: number, x: number): void {
  const { buses } = scene.recording;
  if (buses.length < 2) return;
  const left = x - geometry.gap / 2;
  context.strokeStyle = theme.line;
  context.lineWidth = 1;
  stroke(context, left, 0, left, geometry.head);
  const label = drawable(buses[bus]?.label ?? "");
  write(context, label, left + 4, 9, theme.fonts.small, theme.soft);
}

function drawTurned(pen: Pen, column: Column, x: number): void {
  const { context, geometry, labels, theme } = pen;
  const { head } = theme.fonts;
  const label = labels.cut(column.label, head, turnedWidth(geometry));
  context.save();
  context.translate(x, geometry.head - 12);
  drawDot(pen, column, 0, 0);
  context.rotate(-TURN);
  write(context, label.text, 9, 0, head, inkOf(pen, column));
  context.restore();
}

/** The color of a column name. It is faint if the column has no connection. */
function inkOf({ theme }: Pen, { peers }: Column): string {
  return peers.length === 0 ? theme.faint : theme.ink;
}

function drawDot(pen: Pen, column: Column, x: number, y: number): void {
  const { context, theme } = pen;
  context.fillStyle = column.peers.length === 0 ? theme.line : colorOf(column.label);
  context.beginPath();
  context.arc(x, y, 4, 0, 2 * Math.PI);
  context.fill();
}

const TITLES = { start: "Time", wall: "Time of day", delta: "After" } as const;
