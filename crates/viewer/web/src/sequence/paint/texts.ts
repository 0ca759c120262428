// The times and the names of messages, at the left.

import { Kind } from "../../model/recording";
import { count, duration, sinceStart, timeOfDay } from "../../parts/format";
import type { Geometry } from "../model/geometry";
import { type Note, placeOf } from "../model/scene";
import type { Room } from "./labels";
import { type Pen, write } from "./pen";

/** The time of a message, as it is told now. */
export function timeText(pen: Pen, row: number): string {
  const { recording } = pen.scene;
  const at = recording.at.get(row);
  if (pen.timeStyle === "delta") return deltaText(pen, row);
  return formatTime(pen, at);
}

/** A point of time since the start, or of the day. */
export function formatTime({ scene, timeStyle }: Pen, at: number): string {
  if (timeStyle !== "wall") return sinceStart(at - scene.origin);
  const text = timeOfDay(scene.recording.start + BigInt(Math.round(at)));
  return text.slice(text.indexOf(" ") + 1);
}

/** How long after the message before it. */
function deltaText({ scene }: Pen, row: number): string {
  const place = placeOf(scene, row);
  if (place === undefined || place === 0) return "";
  const { at } = scene.recording;
  const delta = at.get(row) - at.get(scene.rows[place - 1] as number);
  return `${delta < 0 ? "" : "+"}${duration(delta)}`;
}

/** Writes the time of a message. */
export function drawTime(pen: Pen, row: number, y: number): void {
  const { context, geometry, theme } = pen;
  context.textAlign = "right";
  write(context, timeText(pen, row), geometry.time - 8, y, theme.fonts.small, theme.soft);
  context.textAlign = "left";
}

/** How much room names have: beside a note or the number of a run they have less. */
export type NameRoom = "whole" | "beside-note";

/** Writes what a message is: path, interface and member; of a reply the member that it answers. */
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

/** Writes what a message is, and what is said of it, in one line. */
export function drawShortName(pen: Pen, row: number, y: number): void {
  const { recording, noteOf } = pen.scene;
  const kind = recording.kind.get(row);
  const note = noteOf(row);
  const room = note === undefined ? "whole" : "beside-note";
  if (note !== undefined) drawNote(pen, note, y);
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

function roomOf(geometry: Geometry, what: keyof typeof TEXTS, room: NameRoom, font: string): Room {
  const taken = (room === "beside-note" ? NOTE_ROOM : 0) + (what === "returned" ? INDENT : 0);
  const width = geometry.left - geometry.time - 10 - taken;
  return { id: TEXTS[what] * 2 + Number(room === "beside-note"), font, width };
}

/** How many messages a folded or unfolded run has. */
export function drawRun(pen: Pen, length: number, isFolded: boolean, y: number): void {
  const { accent, accentSoft } = pen.theme;
  drawPill(pen, `${isFolded ? "▸" : "▾"} × ${count(length)}`, y, accent, accentSoft);
}

/** What is said of a message. */
export function drawNote(pen: Pen, { text, tone }: Note, y: number): void {
  const { error, raised, soft } = pen.theme;
  drawPill(pen, text, y, tone === "worse" ? error : soft, raised);
}

/** Writes a few words at the right of the names, on a ground of their own. */
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
const NOTE_ROOM = 66;
const TEXTS = { path: 0, member: 1, interface: 2, returned: 3 } as const;
