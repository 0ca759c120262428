// The lifelines of columns, from connecting to disconnecting.

import type { Peer } from "../../generated/protocol";
import { colorOf } from "../../services/hue";
import { seenLines, yOfLine, yOfTime } from "../model/axis";
import { type Column, isMerged } from "../model/columns";
import { columnsSeen, xOf } from "../model/geometry";
import type { Stay } from "../model/lanes";
import { rowOfLine } from "../model/scene";
import { bottomOf, claim, onCanvas, type Pen, stroke, write } from "./pen";

/** The known start and end of a column. */
export interface Life {
  readonly arrived: number | undefined;
  readonly left: number | undefined;
  readonly why: string | undefined;
}

/** The lifetime of a column: from the first to the last of its connections. */
export function lifeOf({ peers }: Column): Life {
  const arrived = peers.map((peer) => peer.arrived);
  const left = peers.map((peer) => peer.left);
  return {
    arrived: arrived.includes(null) ? undefined : Math.min(...(arrived as number[])),
    left: left.includes(null) ? undefined : Math.max(...(left as number[])),
    why: peers.find((peer: Peer) => peer.why !== null)?.why ?? undefined,
  };
}

/** Draws the lifelines of all visible columns, and the names of columns that begin below others. */
export function drawLifelines(pen: Pen): void {
  const { axis, geometry, scene } = pen;
  const lanes = scene.placement.lanes(axis.is);
  const lines = seenLines(scene, axis, pen.offset, bottomOf(pen));
  const { start, end } = columnsSeen(geometry);
  for (let lane = start; lane < end; lane++) {
    const x = xOf(geometry, lane);
    lanes.staysIn(lane, lines.start, lines.end).forEach((stay, place) => {
      const column = scene.columns.all[stay.column];
      if (column === undefined) return;
      const top = drawLifeline(pen, column, stay, x);
      // The first column has its name at the top.
      if (place > 0) drawStart(pen, column, x, top);
    });
  }
}

/** Draws the lifeline of a column while it has a lane. Returns its start on the canvas. */
function drawLifeline(pen: Pen, column: Column, stay: Stay, x: number): number {
  // A column that only fills a position beside another one has no connections.
  if (column.peers.length === 0) return 0;
  const { context, geometry, theme } = pen;
  const begin = topOf(pen, stay);
  const end = endOf(pen, stay);
  const { arrived, left, why } = isMerged(column) ? FOREVER : lifeOf(column);
  const top = Math.max(begin, arrived === undefined ? begin : canvasY(pen, arrived));
  const bottom = Math.min(end, left === undefined ? end : canvasY(pen, left));
  context.strokeStyle = theme.line;
  context.lineWidth = 1;
  const from = Math.max(top, geometry.head);
  const until = Math.min(bottom, geometry.height);
  if (until > from) stroke(context, Math.round(x) + 0.5, from, Math.round(x) + 0.5, until);
  context.strokeStyle = theme.soft;
  if (arrived !== undefined && top > begin && isSeen(pen, top))
    stroke(context, x - 6, top, x + 6, top);
  if (left !== undefined && bottom < end && isSeen(pen, bottom)) drawEnd(pen, x, bottom, why);
  return begin;
}

/** The start of a column's lane on the canvas, a little above its first message. */
function topOf(pen: Pen, stay: Stay): number {
  return stay.from === 0 ? Number.NEGATIVE_INFINITY : lineY(pen, stay.from) - ROOM;
}

function endOf(pen: Pen, stay: Stay): number {
  if (stay.until >= pen.scene.lines.count - 1) return Number.POSITIVE_INFINITY;
  return lineY(pen, stay.until) + ROOM;
}

function lineY({ axis, ...pen }: Pen, line: number): number {
  const { scene } = pen;
  const row = axis.is === "time" ? rowOfLine(scene, line) : undefined;
  const y = row === undefined ? yOfLine(line) : yOfTime(scene, axis, scene.recording.at.get(row));
  return y - pen.offset + pen.geometry.head;
}

/** Draws the name of a column at the start of its lifeline, if it does not begin at the top. */
function drawStart(pen: Pen, column: Column, x: number, top: number): void {
  const { context, geometry, labels, theme } = pen;
  if (!isSeen(pen, top)) return;
  const { small } = theme.fonts;
  const label = labels.cut(column.label, small, Math.max(START_LEAST, geometry.gap * START_GAPS));
  const left = Math.min(x + 6, geometry.width - label.width - 4);
  const box = { x: left - 2, y: top - 7, width: label.width + 4, height: 14 };
  if (!claim(pen, box)) return;
  context.strokeStyle = theme.soft;
  stroke(context, x - 6, top, x + 6, top);
  context.fillStyle = theme.paper;
  context.globalAlpha = 0.85;
  context.fillRect(box.x, box.y, box.width, box.height);
  context.globalAlpha = 1;
  context.fillStyle = colorOf(column.label);
  context.beginPath();
  context.arc(x, top, 3, 0, 2 * Math.PI);
  context.fill();
  write(context, label.text, left, top, small, theme.ink);
}

function canvasY(pen: Pen, time: number): number {
  return onCanvas(pen, yOfTime(pen.scene, pen.axis, time));
}

function isSeen({ geometry }: Pen, y: number): boolean {
  return y >= geometry.head && y <= geometry.height;
}

function drawEnd(pen: Pen, x: number, y: number, why: string | undefined): void {
  const { context, theme } = pen;
  context.lineWidth = 1.5;
  stroke(context, x - 5, y - 5, x + 5, y + 5);
  stroke(context, x - 5, y + 5, x + 5, y - 5);
  if (why === undefined) return;
  const label = pen.labels.cut(why, theme.fonts.small, WHY_WIDTH);
  write(context, label.text, x + 9, y, theme.fonts.small, theme.soft);
}

/** A merged column has no end, because its connections begin and end at different times. */
const FOREVER: Life = { arrived: undefined, left: undefined, why: undefined };
const WHY_WIDTH = 180;
/** Pixels above the first message of a column, and below its last one. */
const ROOM = 26;
/** The width of a name at the start of a lifeline: minimum pixels, and maximum number of lanes. */
const START_LEAST = 120;
const START_GAPS = 3;
