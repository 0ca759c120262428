// Drawing of more messages than pixels.

import { NONE } from "../../model/recording";
import { count } from "../../parts/format";
import { type Axis, type Range, slotsSeen } from "../model/axis";
import { xOf } from "../model/geometry";
import { type Mark, markOf } from "../model/scene";
import { colorOfRow } from "./marks";
import { lane, type Pen, write } from "./pen";

/**
 * Draws a sample of the messages of each few pixel rows, as plain lines. Each part of the drawing
 * gets the same number of lines, so quiet times stay quiet. Lines are grouped by color, because a
 * path with a thousand lines takes little more time than a path with one.
 */
export function drawDense(pen: Pen, axis: Axis & { readonly is: "time" }, seen: Range): void {
  const { context, geometry, scene, theme } = pen;
  const paths = new Map<string, DenseLine[]>();
  let drawn = 0;
  for (let y = geometry.head; y < geometry.height; y += PIXELS) {
    const top = y - geometry.head + pen.offset;
    const { start, end } = slotsSeen(scene, axis, top, top + PIXELS);
    const step = Math.max(1, Math.ceil((end - start) / SAMPLES));
    for (let slot = start; slot < end; slot += step, drawn++) {
      const row = scene.rows[scene.clock.places[slot] as number] as number;
      const mark = markOf(scene.recording, row);
      const line = lineOf(pen, row, mark, y);
      if (line !== undefined)
        pathOf(paths, colorOfRow(theme, scene.recording, row, mark)).push(line);
    }
  }
  context.globalAlpha = 0.4;
  context.lineWidth = 1;
  for (const [color, lines] of paths) {
    context.strokeStyle = color;
    context.beginPath();
    for (const [x1, x2, height] of lines) {
      context.moveTo(x1, height);
      context.lineTo(x2, height);
    }
    context.stroke();
  }
  context.globalAlpha = 1;
  drawNote(pen, drawn, seen.end - seen.start);
}

/** A line from left to right, and its height. */
type DenseLine = readonly [x1: number, x2: number, y: number];

function pathOf(paths: Map<string, DenseLine[]>, color: string): DenseLine[] {
  const known = paths.get(color);
  if (known !== undefined) return known;
  const path: DenseLine[] = [];
  paths.set(color, path);
  return path;
}

function lineOf(pen: Pen, row: number, mark: Mark, y: number): DenseLine | undefined {
  const { geometry, scene } = pen;
  const from = lane(pen, scene.recording.from.get(row), row);
  const to = lane(pen, scene.recording.to.get(row), row);
  if (from === NONE) return undefined;
  const x = xOf(geometry, from);
  if (to !== NONE && mark !== "lost") return [x, xOf(geometry, to), y];
  return [x - DASH, x + DASH, y];
}

/** Draws the note that not all messages are drawn. */
function drawNote(pen: Pen, drawn: number, all: number): void {
  const { context, geometry, theme } = pen;
  const text = `${count(drawn)} of ${count(all)} messages are drawn: press w to zoom in`;
  context.font = theme.fonts.small;
  const width = context.measureText(text).width + 16;
  const x = geometry.width - width - 8;
  const y = geometry.height - 16;
  context.fillStyle = theme.ground;
  context.fillRect(x, y - 11, width, 22);
  context.strokeStyle = theme.line;
  context.strokeRect(x + 0.5, y - 10.5, width - 1, 21);
  write(context, text, x + 8, y, theme.fonts.small, theme.soft);
}

const SAMPLES = 3;
const PIXELS = 2;
const DASH = 5;
