// Names of ends of messages that are outside of what is seen, at the edge where they are.

import { NONE } from "../../model/recording";
import { nameOf } from "../model/describe";
import { type Geometry, xOf } from "../model/geometry";
import { claim, lane, type Pen, write } from "./pen";

/** A message among the columns. Lanes are {@link NONE} where there are none. */
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

/** On which side a lane is outside of what is seen; undefined if it is inside. */
export function sideOf(geometry: Geometry, to: number): ScreenSide | undefined {
  const x = xOf(geometry, to);
  if (x < geometry.left + INSIDE) return "left";
  return x > geometry.width - INSIDE ? "right" : undefined;
}

/** Names the sender of a message that goes to no column, if it is outside. */
export function drawFarSender(pen: Pen, arrow: Arrow): void {
  drawFarEnds(pen, arrow, []);
}

/** Names the ends of a message that are outside: its sender, and those of the lanes that it goes to. */
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

/** Who is there, with an arrow in the direction of the message. */
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

/** Pixels for a name at the edge: alone, or beside another one. */
function roomFor({ geometry }: Pen, isOneOfTwo: boolean): number {
  const room = Math.min(WIDEST, (geometry.width - geometry.left) * SHARE);
  return isOneOfTwo ? room / 2 : room;
}

/** The recipient of a message that is in a lane. */
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

/** Nearer to the edge than this an end is not seen. */
const INSIDE = 5;
const AWAY = 2;
const PADDING = 4;
const HEIGHT = 15;
/** Pixels that a name may have, and what part of what the columns have. */
const WIDEST = 320;
const SHARE = 0.6;
