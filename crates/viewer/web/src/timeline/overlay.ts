// Draws the pointer position and the selection.

import { NONE } from "../model/recording";
import { sinceStart } from "../parts/format";
import type { Span } from "../state/store";
import type { TrackLanes } from "./lanes";
import { type Layout, laneTop, type Placed, RULER, screenTop } from "./layout";
import { ticksOf } from "./ruler";
import type { Marks, TimelineScene } from "./scene";
import { pixelOf, type Stretch } from "./stretch";
import { type Role, servantOf, servesOf, waitsOf } from "./tracks";

type OverlayCanvas = CanvasRenderingContext2D;

/** Draws everything above the tracks. */
export function drawOverlay(canvas: OverlayCanvas, scene: TimelineScene, marks: Marks): void {
  canvas.clearRect(0, 0, scene.stretch.width, scene.height);
  for (const span of marks.marked) drawBand(canvas, scene, span, scene.colors.accent, 0.08);
  if (marks.band !== undefined) drawBand(canvas, scene, marks.band, scene.colors.accent, 0.18);
  if (marks.selected !== undefined) drawMessage(canvas, scene, marks.selected, scene.colors.ink);
  const hovered = marks.hit !== undefined && marks.hit.end === marks.hit.first + 1;
  if (marks.hit !== undefined && hovered && marks.hit.row !== marks.selected) {
    drawMessage(canvas, scene, marks.hit.row, scene.colors.accent);
  }
  if (marks.pointer !== undefined) drawPointer(canvas, scene, marks.pointer);
}

function drawBand(
  canvas: OverlayCanvas,
  scene: TimelineScene,
  span: Span,
  color: string,
  alpha: number,
): void {
  const left = pixelOf(scene.stretch, span.from);
  const width = Math.max(pixelOf(scene.stretch, span.until) - left, 1);
  canvas.fillStyle = color;
  canvas.globalAlpha = alpha;
  canvas.fillRect(left, 0, width, scene.height);
  canvas.globalAlpha = 1;
  canvas.fillRect(left, 0, 1, scene.height);
  canvas.fillRect(left + width, 0, 1, scene.height);
}

/** Draws a line at the pointer, with its time on the ruler. */
function drawPointer(
  canvas: OverlayCanvas,
  { stretch, height, colors }: TimelineScene,
  x: number,
): void {
  canvas.fillStyle = colors.soft;
  canvas.globalAlpha = 0.5;
  canvas.fillRect(x, 0, 1, height);
  canvas.globalAlpha = 1;
  const nanos = stretch.from + (x / stretch.width) * (stretch.until - stretch.from);
  const label = sinceStart(nanos);
  canvas.font = "11px system-ui, 'DejaVu Sans', sans-serif";
  canvas.textBaseline = "middle";
  const width = canvas.measureText(label).width + 8;
  const left = Math.min(x + 4, stretch.width - width);
  hideLabels(canvas, stretch, colors.ground, left, left + width);
  canvas.fillStyle = colors.raised;
  canvas.fillRect(left, 2, width, RULER - 5);
  canvas.fillStyle = colors.ink;
  canvas.fillText(label, left + 4, RULER / 2);
}

/** Covers the labels of the ruler that would overlap another text. */
function hideLabels(
  canvas: OverlayCanvas,
  stretch: Stretch,
  ground: string,
  left: number,
  right: number,
): void {
  canvas.fillStyle = ground;
  for (const { at, label } of ticksOf(stretch)) {
    const from = pixelOf(stretch, at) + 3;
    const width = canvas.measureText(label).width + 4;
    if (from < right + LABEL_GAP && from + width > left - LABEL_GAP) {
      canvas.fillRect(from, 1, width, RULER - 3);
    }
  }
}

/** Pixels between the label of the pointer and the labels of the ruler. */
const LABEL_GAP = 6;

/** The rectangle of a span on the screen. */
interface SpanBox {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

/** Draws all spans of a message, with lines between them. */
function drawMessage(
  canvas: OverlayCanvas,
  scene: TimelineScene,
  row: number,
  color: string,
): void {
  const { recording } = scene;
  canvas.strokeStyle = color;
  canvas.fillStyle = color;
  canvas.lineWidth = 1.5;
  const call = recording.callOf(row);
  outline(canvas, boxOf(scene, recording.bus.get(row), "bus", row));
  if (call === NONE) drawFan(canvas, scene, row);
  else if (recording.partner.get(call) !== NONE) drawCall(canvas, scene, call);
  else if (!drawWait(canvas, scene, call)) drawFan(canvas, scene, row);
}

/** Draws a call without a reply. Returns false if it has one. */
function drawWait(canvas: OverlayCanvas, scene: TimelineScene, call: number): boolean {
  const waits = boxOf(scene, scene.recording.from.get(call), "waits", call);
  outline(canvas, waits);
  return waits !== undefined;
}

function drawCall(canvas: OverlayCanvas, scene: TimelineScene, call: number): void {
  const { recording } = scene;
  const waits = boxOf(scene, recording.from.get(call), "waits", call);
  const serves = boxOf(scene, servantOf(recording, call), "serves", call);
  outline(canvas, waits);
  outline(canvas, serves);
  if (waits === undefined || serves === undefined) return;
  const down = serves.top > waits.top;
  const ends = (box: SpanBox, isUpper: boolean): number => (isUpper ? box.bottom : box.top);
  arrow(canvas, waits.left, ends(waits, down), serves.left, ends(serves, !down));
  canvas.setLineDash([4, 3]);
  arrow(canvas, serves.right, ends(serves, !down), waits.right, ends(waits, down));
  canvas.setLineDash([]);
}

/** Draws arrows from the sender of a message to all recipients. */
function drawFan(canvas: OverlayCanvas, scene: TimelineScene, row: number): void {
  const { recording, tracks, layout } = scene;
  const box = boxOf(scene, recording.from.get(row), "sends", row);
  if (box === undefined) return;
  outline(canvas, box);
  const middle = (box.left + box.right) / 2;
  const to = recording.to.get(row);
  const recipients = recording.recipientsOf(row);
  const peers = recipients.length > 0 || to === NONE ? recipients : [to];
  const drawn = new Set<number>();
  for (const peer of peers) {
    const track = tracks.trackOf(peer);
    const placed = track === undefined ? undefined : layout.byTrack[track];
    if (track === undefined || placed === undefined || drawn.has(track)) continue;
    drawn.add(track);
    const top = screenTop(layout, placed, scene.scroll);
    const isBelow = top > box.top;
    arrow(
      canvas,
      middle,
      isBelow ? box.bottom : box.top,
      middle + FAN,
      top + (isBelow ? 2 : placed.height - 2),
    );
  }
}

/**
 * Horizontal offset of arrows to recipients, in pixels, which distinguishes them from the pointer.
 */
const FAN = 14;

/** Half of the width of a point, in pixels. */
const POINT = 4;

/** The rectangle of a span of a message on the screen. */
function boxOf(scene: TimelineScene, owner: number, role: Role, row: number): SpanBox | undefined {
  const { layout, stretch } = scene;
  const track = role === "bus" ? busTrack(scene, owner) : scene.tracks.trackOf(owner);
  const placed = track === undefined ? undefined : layout.byTrack[track];
  const one = placed?.sections.find(({ section }) => section.role === role);
  if (placed === undefined || one === undefined) return undefined;
  const found = one.section.lanes.placeOf(row, beginOf(scene, role, row));
  if (found === undefined) return undefined;
  const top = screenTop(layout, placed, scene.scroll) + laneTop(one, found.lane, placed);
  const times = timesOf(one.section.lanes, found.place);
  const left = pixelOf(stretch, times.from);
  const right = Math.max(pixelOf(stretch, times.until), left + 1);
  const reach = role === "sends" ? POINT : 0;
  return { left: left - reach, right: right + reach, top: top + 1, bottom: top + one.height - 1 };
}

/** The track of a bus. Buses with spans have the first tracks. */
function busTrack({ tracks, recording }: TimelineScene, bus: number): number | undefined {
  const place = tracks.tracks.findIndex(({ key }) => key === `bus ${bus}`);
  return place < 0 || bus >= recording.buses.length ? undefined : place;
}

function timesOf(lanes: TrackLanes, place: number): Span {
  return { from: lanes.from[place] as number, until: lanes.until[place] as number };
}

/** The start of a message's span in a role. */
function beginOf({ recording }: TimelineScene, role: Role, row: number): number {
  if (role === "bus" || role === "sends") return recording.at.get(row);
  const reply = recording.partner.get(row);
  const times = role === "waits" ? waitsOf : servesOf;
  return times(recording, row, reply)[0];
}

function outline(canvas: OverlayCanvas, box: SpanBox | undefined): void {
  if (box === undefined) return;
  const width = Math.max(box.right - box.left, 3);
  canvas.strokeRect(box.left - 0.75, box.top - 0.75, width + 1.5, box.bottom - box.top + 1.5);
}

/** Draws a curve with vertical ends and an arrowhead. */
function arrow(canvas: OverlayCanvas, x0: number, y0: number, x1: number, y1: number): void {
  const bend = (y1 - y0) / 2;
  canvas.beginPath();
  canvas.moveTo(x0, y0);
  canvas.bezierCurveTo(x0, y0 + bend, x1, y1 - bend, x1, y1);
  canvas.stroke();
  const way = Math.sign(y1 - y0) * 6;
  canvas.beginPath();
  canvas.moveTo(x1, y1);
  canvas.lineTo(x1 - 3.5, y1 - way);
  canvas.lineTo(x1 + 3.5, y1 - way);
  canvas.fill();
}

/** The time range of a message, and its tracks. */
export function placeOf(
  { recording, tracks, layout }: Pick<TimelineScene, "recording" | "tracks" | "layout">,
  row: number,
): { readonly span: Span; readonly placed: readonly Placed[] } {
  const call = recording.callOf(row);
  const reply = call === NONE ? NONE : recording.partner.get(call);
  const at = recording.at.get(row);
  const [from, until] = call === NONE ? [at, at] : waitsOf(recording, call, reply);
  const peers =
    reply === NONE
      ? [recording.from.get(row)]
      : [recording.from.get(call), servantOf(recording, call)];
  const placed = peers.map((peer) => placedOf(tracks.trackOf(peer), layout));
  return {
    span: { from, until: Math.max(until, from) },
    placed: placed.filter((one) => one !== undefined),
  };
}

function placedOf(track: number | undefined, layout: Layout): Placed | undefined {
  return track === undefined ? undefined : layout.byTrack[track];
}
