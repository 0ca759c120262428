// One drawing of the diagram.

import { Kind, NONE } from "../../model/recording";
import { lowerBound } from "../../state/visible";
import {
  type Axis,
  LINE,
  linesSeen,
  type Range,
  slotsSeen,
  tickStep,
  timeAt,
  yOfLine,
  yOfRow,
  yOfTime,
} from "../model/axis";
import { NEAR_ROWS } from "../model/calls";
import { spanOf } from "../model/runs";
import { placeOf, rowOfLine } from "../model/scene";
import { drawActivation, drawArc, drawDuration, drawJoin } from "./calls";
import { drawDense } from "./dense";
import { drawHead } from "./head";
import { drawLifelines } from "./lifelines";
import { drawMark } from "./marks";
import { amongColumns, bottomOf, isHit, isMarked, onCanvas, type Pen, stroke, write } from "./pen";
import {
  drawCallEnd,
  drawName,
  drawNote,
  drawRun,
  drawShortName,
  drawTime,
  formatTime,
} from "./texts";

type TimeAxis = Axis & { readonly is: "time" };

/** Draws everything that is visible. */
export function draw(pen: Pen): void {
  const { context, farEnds, geometry, taken, theme } = pen;
  farEnds.length = 0;
  taken.length = 0;
  context.fillStyle = theme.paper;
  context.fillRect(0, 0, geometry.width, geometry.height);
  context.textBaseline = "middle";
  const { axis } = pen;
  if (axis.is === "order") drawOrder(pen);
  else drawTimes(pen, axis);
  drawHead(pen);
  drawEdge(pen);
  amongColumns(pen, () => drawJoin(pen));
}

/** Draws the edge between the parts that scroll horizontally and the fixed parts. */
function drawEdge({ context, geometry, theme }: Pen): void {
  context.strokeStyle = theme.line;
  context.lineWidth = 1;
  stroke(context, geometry.left - 0.5, 0, geometry.left - 0.5, geometry.height);
}

function drawOrder(pen: Pen): void {
  const { scene } = pen;
  const seen = linesSeen(scene, pen.offset, bottomOf(pen));
  for (let line = seen.start; line < seen.end; line++) drawGround(pen, line);
  amongColumns(pen, () => {
    drawLifelines(pen);
    const { first } = scene.lines;
    drawCalls(pen, first[seen.start] ?? 0, first[seen.end] ?? 0);
    for (let line = seen.start; line < seen.end; line++) drawLine(pen, line);
  });
  for (let line = seen.start; line < seen.end; line++) drawTexts(pen, line);
}

/** Draws the background of a line that is hovered or selected. */
function drawGround(pen: Pen, line: number): void {
  drawHit(pen, line);
  const { context, geometry, theme } = pen;
  const has = (row: number): boolean => isInLine(pen, line, row);
  const isHovered = has(pen.hovered);
  const color = has(pen.selected)
    ? theme.marked
    : has(pen.partner)
      ? theme.accentSoft
      : theme.ground;
  if (color === theme.ground && !isHovered) return;
  context.fillStyle = color;
  context.fillRect(0, onCanvas(pen, line * LINE), geometry.width, LINE);
}

/** Draws a stripe before a line with a search hit. */
function drawHit(pen: Pen, line: number): void {
  const { context, hits, scene, theme } = pen;
  if (hits.length === 0) return;
  const first = scene.rows[scene.lines.first[line] as number] as number;
  const last = scene.rows[(scene.lines.first[line + 1] as number) - 1] as number;
  const hit = hits[lowerBound(hits, first)];
  if (hit === undefined || hit > last) return;
  context.fillStyle = theme.accent;
  context.fillRect(0, onCanvas(pen, line * LINE), HIT_WIDTH, LINE);
}

function isInLine({ scene }: Pen, line: number, row: number): boolean {
  if (row === NONE) return false;
  const start = scene.lines.first[line] as number;
  const end = scene.lines.first[line + 1] as number;
  if (end === start + 1) return scene.rows[start] === row;
  const place = lowerBound(scene.rows, row);
  return place >= start && place < end && scene.rows[place] === row;
}

/** Draws the messages of a line; for a folded group, the first one and its reply. */
function drawLine(pen: Pen, line: number): void {
  const { scene } = pen;
  const row = rowOfLine(scene, line);
  if (row === undefined) return;
  const y = onCanvas(pen, yOfLine(line));
  if (spanOf(scene.lines, line) === 1) {
    drawMark(pen, row, y, y);
    return;
  }
  const hasReplies = scene.recording.kind.get(row) === Kind.Call;
  drawMark(pen, row, hasReplies ? y - 4 : y, hasReplies ? y - 4 : y);
  const reply = hasReplies ? scene.recording.partnerOf(row) : NONE;
  if (reply !== NONE) drawMark(pen, reply, y + 5, y + 5);
}

function drawTexts(pen: Pen, line: number): void {
  const { scene } = pen;
  const row = rowOfLine(scene, line);
  if (row === undefined) return;
  const y = onCanvas(pen, yOfLine(line));
  drawTime(pen, row, y);
  const run = scene.lines.run[line] as number;
  const note = scene.noteOf(row);
  const isNoted = run > 0 || note !== undefined;
  if (run > 0) drawRun(pen, run, spanOf(scene.lines, line) > 1, y);
  else if (note !== undefined) drawNote(pen, note, y);
  drawName(pen, row, y, isNoted ? "beside-note" : drawCallEnd(pen, row, y));
}

/** Draws the activities and arcs of calls that begin, end or continue at these positions. */
function drawCalls(pen: Pen, start: number, end: number): void {
  const { recording, rows } = pen.scene;
  const first = rows[start];
  if (first === undefined) return;
  const near = lowerBound(rows, Math.max(0, first - NEAR_ROWS));
  const calls: number[] = [];
  for (let place = near; place < end; place++) {
    const row = rows[place] as number;
    if (recording.kind.get(row) !== Kind.Call) continue;
    const reply = recording.partnerOf(row);
    if (reply !== NONE && (place >= start || reply >= first)) calls.push(row);
  }
  for (const call of pen.scene.far) {
    if (call < first - NEAR_ROWS && recording.partnerOf(call) >= first) calls.push(call);
  }
  if (calls.length <= BARS_MAX) for (const call of calls) drawActivation(pen, call);
  if (calls.length <= ARCS_MAX) for (const call of calls) drawArc(pen, call);
  // If there is space for only one of two durations, the selected call gets it.
  calls.sort((one, other) => Number(isMarked(pen, other)) - Number(isMarked(pen, one)));
  if (calls.length <= DURATIONS_MAX) for (const call of calls) drawDuration(pen, call);
}

function drawTimes(pen: Pen, axis: TimeAxis): void {
  const seen = slotsSeen(pen.scene, axis, pen.offset - AROUND, bottomOf(pen) + AROUND);
  const isDense = seen.end - seen.start > MARKS_MAX;
  amongColumns(pen, () => {
    drawLifelines(pen);
    if (!isDense) drawCalls(pen, ...placesIn(pen, seen));
    if (isDense) drawDense(pen, axis, seen);
    else for (let slot = seen.start; slot < seen.end; slot++) drawTimed(pen, axis, slot);
  });
  drawTicks(pen, axis);
  drawNames(pen, axis, seen);
}

/** The positions of the messages of slots, nearly in order. */
function placesIn({ scene }: Pen, { start, end }: Range): [number, number] {
  if (start >= end) return [0, 0];
  const { places } = scene.clock;
  return [places[start] as number, (places[end - 1] as number) + 1];
}

function drawTimed(pen: Pen, axis: TimeAxis, slot: number): void {
  const { scene } = pen;
  const row = scene.rows[scene.clock.places[slot] as number] as number;
  const y = onCanvas(pen, yOfRow(scene, axis, row) as number);
  const inBus = scene.recording.delivered.get(row);
  if (isMarked(pen, row) || row === pen.hovered || isHit(pen, row)) drawBand(pen, row, y);
  drawMark(pen, row, y, y + (inBus === NONE ? 0 : inBus * axis.scale));
}

/** Draws the background of a message that is hovered or selected. */
function drawBand(pen: Pen, row: number, y: number): void {
  const { context, geometry, theme } = pen;
  const other = row === pen.partner ? theme.accentSoft : theme.ground;
  context.fillStyle = row === pen.selected ? theme.marked : other;
  context.fillRect(geometry.left, y - 8, geometry.width, 16);
}

/** Draws time marks on the left, and lines from them. */
function drawTicks(pen: Pen, axis: TimeAxis): void {
  const { context, geometry, scene, theme } = pen;
  const step = tickStep(axis.scale, TICK_PIXELS);
  const { origin } = scene;
  const first = Math.ceil((timeAt(axis, pen.offset) - origin) / step) * step + origin;
  const last = Math.min(timeAt(axis, bottomOf(pen)), axis.until);
  context.strokeStyle = theme.line;
  context.lineWidth = 1;
  context.textAlign = "right";
  for (let time = Math.max(first, origin); time <= last; time += step) {
    const y = onCanvas(pen, yOfTime(scene, axis, time));
    stroke(context, geometry.time - 5, y, geometry.time, y);
    const text = formatTime(pen, time);
    write(context, text, geometry.time - 8, y, theme.fonts.small, theme.soft);
  }
  context.textAlign = "left";
}

/** Draws as many message names as fit, the hovered and selected ones first. */
function drawNames(pen: Pen, axis: TimeAxis, { start, end }: Range): void {
  const { scene } = pen;
  const named = drawMarkedNames(pen, axis);
  const free = (y: number): boolean => named.every((other) => Math.abs(other - y) >= NAME);
  let slot = start;
  for (let next = pen.geometry.head + NAME / 2; slot < end; ) {
    const row = scene.rows[scene.clock.places[slot] as number] as number;
    const y = onCanvas(pen, yOfRow(scene, axis, row) as number);
    if (y >= next) {
      if (free(y)) drawShortName(pen, row, y);
      next = y + NAME;
      // Continue at the next message that fits, without visiting those in between.
      const seen = slotsSeen(scene, axis, next - pen.geometry.head + pen.offset, bottomOf(pen));
      slot = Math.max(slot + 1, seen.start);
    } else slot++;
  }
}

/** Draws the names of hovered and selected messages. Returns their heights. */
function drawMarkedNames(pen: Pen, axis: TimeAxis): number[] {
  const heights: number[] = [];
  for (const row of new Set([pen.selected, pen.hovered, pen.partner])) {
    if (row === NONE || placeOf(pen.scene, row) === undefined) continue;
    const y = onCanvas(pen, yOfRow(pen.scene, axis, row) as number);
    const isSeen = y >= pen.geometry.head + NAME / 2 && y <= pen.geometry.height;
    if (!isSeen || heights.some((other) => Math.abs(other - y) < NAME)) continue;
    drawShortName(pen, row, y);
    heights.push(y);
  }
  return heights;
}

/** Maximum number of bars, because more could not be distinguished. */
const BARS_MAX = 600;
const ARCS_MAX = 300;
const DURATIONS_MAX = 150;
const MARKS_MAX = 1000;
const TICK_PIXELS = 64;
const NAME = 17;
/** Messages that are this many pixels outside may extend into the visible part. */
const AROUND = 40;

/** Width of the stripe before a hit, in pixels. */
const HIT_WIDTH = 4;
