// Calls from start to end: the activity of the callee, and arcs from replies to calls.

import { type Outcome, outcomeOf, paceOf } from "../../model/outcome";
import { NONE } from "../../model/recording";
import { duration } from "../../parts/format";
import { yOfRow } from "../model/axis";
import { busShare } from "../model/calls";
import { xOf } from "../model/geometry";
import { placeOf } from "../model/scene";
import { colorOfEnding } from "./endings";
import { colorOfPace } from "./marks";
import { bottomOf, claim, isMarked, lane, onCanvas, type Pen, stroke, write } from "./pen";
import type { Theme } from "./theme";

/**
 * Draws the activity of a callee from a call to its reply, and the time that the call spent in the
 * bus.
 */
export function drawActivation(pen: Pen, call: number): void {
  const { context, scene, theme } = pen;
  const { recording } = scene;
  const reply = recording.partnerOf(call);
  const column = lane(pen, recording.to.get(call), call);
  const ends = endsOf(pen, call, reply);
  if (column === NONE || ends === undefined) return;
  const x = xOf(pen.geometry, column) - BAR / 2;
  const inBus = ends.top + (ends.bottom - ends.top) * busShare(recording, call, reply);
  const outcome = outcomeOf(recording, call);
  context.globalAlpha = isMarked(pen, call) ? 0.6 : 0.3;
  context.fillStyle = outcome.ending === "returned" ? colorOfCall(theme, outcome) : theme.error;
  fillClipped(pen, x, inBus, ends.bottom);
  context.globalAlpha = 0.9;
  context.fillStyle = theme.waiting;
  fillClipped(pen, x, ends.top, inBus);
  context.globalAlpha = 1;
}

/**
 * Draws the arc from a reply to its call, on the side of the caller that is opposite to the callee.
 */
export function drawArc(pen: Pen, call: number): void {
  const { context, scene, theme } = pen;
  const bracket = bracketOf(pen, call);
  if (bracket === undefined) return;
  const outcome = outcomeOf(scene.recording, call);
  const isStrong = isMarked(pen, call);
  const isVerySlow = paceOf(outcome.waited) === "very-slow";
  context.strokeStyle = colorOfOutcome(theme, outcome);
  context.lineWidth = isStrong || isVerySlow ? 2 : 1;
  context.setLineDash(isStrong || isVerySlow ? [] : DASH);
  context.globalAlpha = isStrong ? 1 : 0.75;
  strokeBracket(pen, bracket);
  context.setLineDash([]);
  context.globalAlpha = 1;
}

/** Writes the duration of a call beside its arc, if its end is visible and there is space. */
export function drawDuration(pen: Pen, call: number): void {
  const { context, geometry, labels, scene, theme } = pen;
  const { small } = theme.fonts;
  const bracket = bracketOf(pen, call);
  const outcome = outcomeOf(scene.recording, call);
  if (bracket === undefined || outcome.waited === undefined) return;
  const { bottom, side } = bracket;
  if (bottom - TEXT < geometry.head || bottom > geometry.height + TEXT) return;
  const x = bracket.x + bracket.bulge;
  const text = duration(outcome.waited);
  const width = labels.width(text, small) + 4;
  const box = { x: side < 0 ? x - width : x + 2, y: bottom - TEXT, width, height: TEXT - 2 };
  if (!claim(pen, box)) return;
  context.textAlign = side < 0 ? "right" : "left";
  context.fillStyle = theme.paper;
  context.globalAlpha = 0.8;
  context.fillRect(box.x, box.y, box.width, box.height);
  context.globalAlpha = 1;
  const color = colorOfOutcome(theme, outcome);
  write(context, text, x + side * 4, bottom - TEXT / 2 - 1, small, color);
  context.textAlign = "left";
}

/** The color of the connection of a call and its reply: its outcome, or that it is slow. */
function colorOfOutcome(theme: Theme, outcome: Outcome): string {
  const slow = colorOfPace(theme, paceOf(outcome.waited));
  return (
    slow ?? (outcome.ending === "returned" ? theme.return : colorOfEnding(theme, outcome.ending))
  );
}

/** The color of the activity for a call. */
function colorOfCall(theme: Theme, { waited }: Outcome): string {
  return colorOfPace(theme, paceOf(waited)) ?? theme.call;
}

/** The position of an arc, and the side and distance to which it extends. */
interface Bracket extends Ends {
  readonly x: number;
  readonly side: 1 | -1;
  readonly bulge: number;
}

function bracketOf(pen: Pen, call: number): Bracket | undefined {
  const { scene } = pen;
  const { recording } = scene;
  const column = lane(pen, recording.from.get(call), call);
  const ends = endsOf(pen, call, recording.partnerOf(call));
  if (column === NONE || ends === undefined) return undefined;
  const callee = lane(pen, recording.to.get(call), call);
  const side = callee !== NONE && callee < column ? 1 : -1;
  const lines = (ends.bottom - ends.top) / BULGE_PIXELS;
  const bulge = side * Math.min(BULGE_MAX, 8 + 3 * Math.log2(1 + lines));
  return { ...ends, x: xOf(pen.geometry, column), side, bulge };
}

interface Ends {
  readonly top: number;
  readonly bottom: number;
}

/** The positions of a call and its reply; undefined if they are in one line, or not displayed. */
function endsOf(pen: Pen, call: number, reply: number): Ends | undefined {
  const { scene, axis } = pen;
  if (reply === NONE || placeOf(scene, reply) === undefined) return undefined;
  if (placeOf(scene, call) === undefined) return undefined;
  const top = yOfRow(scene, axis, call);
  const bottom = yOfRow(scene, axis, reply);
  if (top === undefined || bottom === undefined || top === bottom) return undefined;
  return { top: onCanvas(pen, top), bottom: onCanvas(pen, bottom) };
}

/** Draws a bracket with round corners. Parts far outside are skipped, because dashes take time. */
function strokeBracket(pen: Pen, { x, bulge, top, bottom }: Bracket): void {
  const { context, geometry } = pen;
  const above = Math.max(top, -OUTSIDE);
  const below = Math.min(bottom, geometry.height + OUTSIDE);
  const corner = Math.min(Math.abs(bulge), (bottom - top) / 2);
  context.beginPath();
  if (top === above) {
    context.moveTo(x, top);
    context.quadraticCurveTo(x + bulge, top, x + bulge, top + corner);
  } else context.moveTo(x + bulge, above);
  if (bottom === below) {
    context.lineTo(x + bulge, bottom - corner);
    context.quadraticCurveTo(x + bulge, bottom, x, bottom);
  } else context.lineTo(x + bulge, below);
  context.stroke();
}

function fillClipped(pen: Pen, x: number, top: number, bottom: number): void {
  const from = Math.max(top, -OUTSIDE);
  const until = Math.min(bottom, pen.geometry.height + OUTSIDE);
  if (until > from) pen.context.fillRect(x, from, BAR, until - from);
}

/** Connects the selected message and its partner, if one of them is not visible. */
export function drawJoin(pen: Pen): void {
  if (pen.selected === NONE || pen.partner === NONE) return;
  const call = Math.min(pen.selected, pen.partner);
  const y = yOfRow(pen.scene, pen.axis, pen.partner);
  const column = lane(pen, pen.scene.recording.from.get(call), call);
  if (y === undefined || column === NONE) return;
  const isAbove = y < pen.offset;
  if (!isAbove && y <= bottomOf(pen)) return;
  const { context, geometry, theme } = pen;
  const edge = isAbove ? geometry.head + 10 : geometry.height - 10;
  const tip = isAbove ? -6 : 6;
  const x = xOf(geometry, column);
  context.strokeStyle = theme.accent;
  context.lineWidth = 2;
  stroke(context, x - 6, edge, x, edge + tip);
  stroke(context, x + 6, edge, x, edge + tip);
}

const BAR = 7;
const BULGE_MAX = 36;
const BULGE_PIXELS = 34;
const DASH = [3, 3];
const OUTSIDE = 60;
const TEXT = 15;
