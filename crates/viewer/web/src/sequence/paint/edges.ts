// Names of senders and recipients outside of the visible part, at the edge nearest to them.

import { NONE } from "../../model/recording";
import { nameOf } from "../model/describe";
import { type Geometry, xOf } from "../model/geometry";
import { claim, lane, type Pen, write } from "./pen";

/** A message among the columns. Missing lanes are {@link NONE}. */
export interface Arrow {
  readonly row: number;
  readonly from: number;
  readonly to: number;
  readonly y: number;
  /** The height at which it arrives. */
  readonly arrival: number;
  readonly color: string;
}

type ScreenSide = "left" | "right";

/** The side on which a lane is outside of the visible part; undefined if it is visible. */
export function sideOf(geometry: Geometry, to: number): ScreenSide | undefined {
  const x = xOf(geometry, to);
  if (x < geometry.left + INSIDE) return "left";
  return x > geometry.width - INSIDE ? "right" : undefined;
}

/** Draws the name of an invisible sender whose message does not lead to a column. */
export function drawFarSender(pen: Pen, arrow: Arrow): void {
  drawFarEnds(pen, arrow, []);
}

/** Draws the names of the invisible sender and the invisible recipients of a message. */
export function drawFarEnds(pen: Pen, arrow: Arrow, to: readonly number[]): void {
  const { geometry } = pen;
  const sender = arrow.from === NONE ? undefined : sideOf(geometry, arrow.from);
  for (const side of ["left", "right"] as const) {
    const far = to.filter((other) => other !== NONE && sideOf(geometry, other) === side);
    const ends = far.filter((other) => other !== arrow.from);
    const isFrom = sender === side;
    if (!isFrom && ends.length === 0) continue;
    const goal = ends[0] ?? arrow.from;
    drawFarEnd(pen, arrow, side, textOf(pen, arrow, isFrom, ends, side), goal);
  }
}

/** The name with an arrow in the direction of the message. */
function textOf(
  pen: Pen,
  { from, row }: Arrow,
  isFrom: boolean,
  ends: readonly number[],
  side: ScreenSide,
): string {
  const { recording } = pen.scene;
  const [first] = ends;
  const cut = (name: string): string =>
    pen.labels.cut(name, pen.theme.fonts.small, roomFor(pen, isFrom && first !== undefined)).text;
  const sender = cut(nameOf(recording, recording.from.get(row)));
  const more = ends.length > 1 ? ` and ${ends.length - 1} more` : "";
  const recipient = first === undefined ? "" : cut(nameIn(pen, row, first)) + more;
  if (!isFrom) return side === "right" ? `→ ${recipient}` : `← ${recipient}`;
  if (recipient === "") return `from ${sender}`;
  return from < (first as number) ? `${sender} → ${recipient}` : `${recipient} ← ${sender}`;
}

/** Available pixels for a name at the edge: alone, or beside another name. */
function roomFor({ geometry }: Pen, isOneOfTwo: boolean): number {
  const room = Math.min(WIDEST, (geometry.width - geometry.left) * SHARE);
  return isOneOfTwo ? room / 2 : room;
}

/** The name of the recipient in a lane. */
function nameIn(pen: Pen, row: number, wanted: number): string {
  const { recording } = pen.scene;
  const to = recording.to.get(row);
  if (to !== NONE && lane(pen, to, row) === wanted) return nameOf(recording, to);
  const peer = recording.recipientsOf(row).find((one) => lane(pen, one, row) === wanted);
  return peer === undefined ? "" : nameOf(recording, peer);
}

function drawFarEnd(pen: Pen, arrow: Arrow, side: ScreenSide, text: string, goal: number): void {
  const { context, farEnds, geometry, labels, theme } = pen;
  const { small } = theme.fonts;
  const width = labels.width(text, small) + 2 * PADDING;
  const x = side === "left" ? geometry.left + AWAY : geometry.width - width - AWAY;
  const box = { x, y: arrow.y - HEIGHT - 1, width, height: HEIGHT };
  if (!claim(pen, box)) return;
  context.fillStyle = theme.paper;
  context.globalAlpha = 0.9;
  context.beginPath();
  context.roundRect(box.x, box.y, box.width, box.height, 3);
  context.fill();
  context.globalAlpha = 1;
  write(context, text, x + PADDING, box.y + HEIGHT / 2, small, arrow.color);
  farEnds.push({ ...box, row: arrow.row, lane: goal });
}

/** An end that is nearer to the edge than this is not visible, in pixels. */
const INSIDE = 5;
const AWAY = 2;
const PADDING = 4;
const HEIGHT = 15;
/** Maximum width of a name in pixels, and as a part of the width of the columns. */
const WIDEST = 320;
const SHARE = 0.6;
