// The lines of columns, from when somebody came until they left.

import type { Peer } from "../../model/recording";
import { yOfTime } from "../model/axis";
import type { Column } from "../model/columns";
import { columnsSeen, xOf } from "../model/geometry";
import { onCanvas, type Pen, stroke, write } from "./pen";

/** When a column begins and ends, as far as that is known. */
export interface Life {
  readonly arrived: number | undefined;
  readonly left: number | undefined;
  readonly why: string | undefined;
}

/** The life of a column: as long as one of its connections is there. */
export function lifeOf({ peers }: Column): Life {
  const arrived = peers.map((peer) => peer.arrived);
  const left = peers.map((peer) => peer.left);
  return {
    arrived: arrived.includes(null) ? undefined : Math.min(...(arrived as number[])),
    left: left.includes(null) ? undefined : Math.max(...(left as number[])),
    why: peers.find((peer: Peer) => peer.why !== null)?.why ?? undefined,
  };
}

/** Draws the lines of all columns that are seen. */
export function drawLifelines(pen: Pen): void {
  const { start, end } = columnsSeen(pen.geometry);
  for (let place = start; place < end; place++) {
    const column = pen.scene.columns.all[place];
    if (column !== undefined) drawLifeline(pen, column, xOf(pen.geometry, place));
  }
}

function drawLifeline(pen: Pen, column: Column, x: number): void {
  // A column that is there for the sake of one beside it has nobody.
  if (column.peers.length === 0) return;
  const { context, geometry, theme } = pen;
  const { arrived, left, why } = lifeOf(column);
  const top = arrived === undefined ? 0 : canvasY(pen, arrived);
  const bottom = left === undefined ? geometry.height : canvasY(pen, left);
  context.strokeStyle = theme.line;
  context.lineWidth = 1;
  const from = Math.max(top, geometry.head);
  const until = Math.min(bottom, geometry.height);
  if (until > from) stroke(context, Math.round(x) + 0.5, from, Math.round(x) + 0.5, until);
  context.strokeStyle = theme.soft;
  if (arrived !== undefined && isSeen(pen, top)) stroke(context, x - 6, top, x + 6, top);
  if (left !== undefined && isSeen(pen, bottom)) drawEnd(pen, x, bottom, why);
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

const WHY_WIDTH = 180;
