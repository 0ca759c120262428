// The times and the names of messages, on the left.

import {
  ENDING_WORDS,
  isFailure,
  isUnanswered,
  type Outcome,
  outcomeOf,
  paceOf,
} from "../../model/outcome";
import { Kind, NONE } from "../../model/recording";
import { count, duration, sinceStart, timeOfDay } from "../../parts/format";
import type { Geometry } from "../model/geometry";
import { isBeforeLast, type Note, placeOf } from "../model/scene";
import { colorOfEnding } from "./endings";
import type { LabelRoom } from "./labels";
import { colorOfPace } from "./marks";
import { type Pen, write } from "./pen";

/** The time of a message in the selected format. */
export function timeText(pen: Pen, row: number): string {
  const { recording } = pen.scene;
  const at = recording.at.get(row);
  if (pen.timeStyle === "delta") return deltaText(pen, row);
  return formatTime(pen, at);
}

/** A time since the start or the reference message, or a time of day. */
export function formatTime({ reference, scene, timeStyle }: Pen, at: number): string {
  if (timeStyle !== "wall") {
    if (reference === NONE) return sinceStart(at - scene.origin);
    const since = at - scene.recording.at.get(reference);
    return `${since < 0 ? "−" : "+"}${sinceStart(Math.abs(since))}`;
  }
  const text = timeOfDay(scene.recording.start + BigInt(Math.round(at)));
  return text.slice(text.indexOf(" ") + 1);
}

/** The time since the previous message. */
function deltaText({ scene }: Pen, row: number): string {
  const place = placeOf(scene, row);
  if (place === undefined || place === 0) return "";
  const { at } = scene.recording;
  const delta = at.get(row) - at.get(scene.rows[place - 1] as number);
  return `${delta < 0 ? "" : "+"}${duration(delta)}`;
}

/** Writes the time of a message, with an arrow if it is before the time of the message above. */
export function drawTime(pen: Pen, row: number, y: number): void {
  const { context, geometry, scene, theme } = pen;
  const isEarlier = isBeforeLast(scene, row);
  context.textAlign = "right";
  const text = `${isEarlier ? "↑ " : ""}${timeText(pen, row)}`;
  const color = row === pen.reference ? theme.ink : theme.soft;
  write(context, text, geometry.time - 8, y, theme.fonts.small, color);
  context.textAlign = "left";
}

/** The width for a name, which is smaller beside a note or the size of a group. */
export type NameRoom = "whole" | "beside-note" | "beside-ending";

/** Writes the path, interface and member of a message; for a reply, the member of its call. */
export function drawName(pen: Pen, row: number, y: number, room: NameRoom): void {
  const { recording } = pen.scene;
  switch (recording.kind.get(row)) {
    case Kind.Return:
      drawReturned(pen, row, y, room);
      break;
    case Kind.Error:
      drawReturned(pen, row, y - 7, room);
      drawMember(pen, row, y + 7, room, pen.theme.error);
      break;
    default:
      drawPath(pen, row, y - 7, room);
      drawMember(pen, row, y + 7, room, pen.theme.ink);
  }
}

/** Writes the name of a message with its note in one line. */
export function drawShortName(pen: Pen, row: number, y: number): void {
  const { recording, noteOf } = pen.scene;
  const kind = recording.kind.get(row);
  const note = noteOf(row);
  if (note !== undefined) drawNote(pen, note, y);
  const room = note === undefined ? drawCallEnd(pen, row, y) : "beside-note";
  if (kind === Kind.Return) drawReturned(pen, row, y, room);
  else drawMember(pen, row, y, room, kind === Kind.Error ? pen.theme.error : pen.theme.ink);
}

function drawPath(
  { context, geometry, labels, scene, theme }: Pen,
  row: number,
  y: number,
  room: NameRoom,
): void {
  const { small } = theme.fonts;
  const place = scene.recording.path.get(row);
  const label = labels.of(scene.recording, place, roomOf(geometry, "path", room, small));
  write(context, label.text, geometry.time, y, small, theme.soft);
}

function drawMember(pen: Pen, row: number, y: number, room: NameRoom, color: string): void {
  const { context, geometry, labels, scene, theme } = pen;
  const { recording } = scene;
  const { bold, plain } = theme.fonts;
  const place = recording.member.get(row);
  const member = labels.of(recording, place, roomOf(geometry, "member", room, bold));
  const face = recording.interface.get(row);
  const faceRoom = roomOf(geometry, "interface", room, plain);
  const before = labels.before(recording, face, place, member, faceRoom);
  write(context, before.text, geometry.time, y, plain, theme.soft);
  write(context, member.text, geometry.time + before.width, y, bold, color);
}

function drawReturned(
  { context, geometry, labels, scene, theme }: Pen,
  row: number,
  y: number,
  room: NameRoom,
): void {
  const { recording } = scene;
  const subject = recording.subjectOf(row);
  if (subject === row) return;
  const { italic } = theme.fonts;
  const place = recording.member.get(subject);
  const label = labels.of(recording, place, roomOf(geometry, "returned", room, italic));
  write(context, label.text, geometry.time + INDENT, y, italic, theme.faint);
}

function roomOf(
  geometry: Geometry,
  what: keyof typeof TEXTS,
  room: NameRoom,
  font: string,
): LabelRoom {
  const taken = ROOMS[room].taken + (what === "returned" ? INDENT : 0);
  const width = geometry.left - geometry.time - 10 - taken;
  return { id: TEXTS[what] * 3 + ROOMS[room].id, font, width };
}

/**
 * Writes the duration or the outcome beside a call. Returns the width that is left for its name.
 */
export function drawCallEnd(pen: Pen, row: number, y: number): NameRoom {
  const { context, geometry, scene, theme } = pen;
  if (scene.recording.kind.get(row) !== Kind.Call) return "whole";
  const outcome = outcomeOf(scene.recording, row);
  const text = endText(outcome);
  const pace = paceOf(outcome.waited);
  const isPlain = pace === "quick" && outcome.ending === "returned";
  const isNarrow = geometry.left - geometry.time < NARROW;
  if (text === "" || (isPlain && isNarrow)) return "whole";
  const isBad = isFailure(outcome) || isUnanswered(outcome);
  const slow = colorOfPace(theme, pace);
  const color = isBad ? colorOfEnding(theme, outcome.ending) : (slow ?? theme.soft);
  if (isPlain) {
    context.textAlign = "right";
    write(context, text, geometry.left - 12, y, theme.fonts.small, color);
    context.textAlign = "left";
  } else if (pace === "very-slow") drawPill(pen, text, y, theme.paper, color);
  else drawPill(pen, text, y, color, theme.raised);
  return text.length > SHORT ? "beside-ending" : "beside-note";
}

/** The duration of a call, and its outcome unless the service replied. */
function endText(outcome: Outcome): string {
  const { ending, waited } = outcome;
  const time = waited === undefined ? "" : duration(waited);
  if (ending === "returned" || ending === "failed") return time;
  if (ending === "no-reply-expected" || ending === "unknown") return "";
  return `${ENDING_WORDS[ending]} ${time}`.trim();
}

/** Writes the size of a folded or unfolded group. */
export function drawRun(pen: Pen, length: number, isFolded: boolean, y: number): void {
  const { accent, accentSoft } = pen.theme;
  drawPill(pen, `${isFolded ? "▸" : "▾"} × ${count(length)}`, y, accent, accentSoft);
}

/** Writes the note about a message. */
export function drawNote(pen: Pen, { text, tone }: Note, y: number): void {
  const { error, raised, soft } = pen.theme;
  drawPill(pen, text, y, tone === "worse" ? error : soft, raised);
}

/** Writes a few words at the right of the names, on a colored background. */
function drawPill(pen: Pen, text: string, y: number, color: string, ground: string): void {
  const { context, geometry, theme } = pen;
  context.font = theme.fonts.small;
  const width = context.measureText(text).width + 12;
  const x = geometry.left - width - 6;
  context.fillStyle = ground;
  context.beginPath();
  context.roundRect(x, y - 9, width, 18, 9);
  context.fill();
  write(context, text, x + 6, y, theme.fonts.small, color);
}

const INDENT = 14;
const ROOMS = {
  whole: { id: 0, taken: 0 },
  "beside-note": { id: 1, taken: 66 },
  "beside-ending": { id: 2, taken: 124 },
} as const;
/** A text of at most this many characters fits into the place of notes. */
const SHORT = 8;
/** If names have fewer pixels, the usual outcome is left out. */
const NARROW = 150;
const TEXTS = { path: 0, member: 1, interface: 2, returned: 3 } as const;
