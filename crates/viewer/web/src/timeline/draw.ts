// Draws the tracks of the timeline.

import { NONE } from "../model/recording";
import { colorOf } from "./colors";
import { nameOf } from "./label";
import type { TrackLanes } from "./lanes";
import { laneTop, type Placed, type PlacedSection, RULER, STRIP_PLACE, seen } from "./layout";
import { drawReplacements } from "./replacements";
import { ticksOf } from "./ruler";
import type { TimelineScene } from "./scene";
import { pixelOf } from "./stretch";
import { deliveredAfter, type Role } from "./tracks";

type TrackCanvas = CanvasRenderingContext2D;

const FONT = "11px system-ui, 'DejaVu Sans', sans-serif";
/** Minimum width of a span that has its name on it, in pixels. */
const NAME_LEAST = 34;
/** Approximate width of a character, in pixels. */
const CHARACTER = 6.2;
/** Minimum drawn width of a span, in pixels. */
const NARROWEST = 1.5;
/** Minimum width of a span whose phases are drawn, in pixels. */
const PARTS_LEAST = 4;
/** Minimum opacity of a range that is nearly empty. */
const FAINTEST = 0.3;

/** Draws everything that does not depend on the pointer. */
export function draw(canvas: TrackCanvas, scene: TimelineScene): void {
  const { stretch, height, colors, layout, scroll } = scene;
  canvas.fillStyle = colors.paper;
  canvas.fillRect(0, 0, stretch.width, height);
  canvas.font = FONT;
  canvas.textBaseline = "middle";
  drawGrid(canvas, scene);
  const pinned = RULER + layout.pinnedHeight;
  const parts = [
    { isPinned: false, top: pinned, bottom: height },
    { isPinned: true, top: RULER, bottom: pinned },
  ];
  for (const { isPinned, top, bottom } of parts) {
    canvas.save();
    canvas.beginPath();
    canvas.rect(0, top, stretch.width, bottom - top);
    canvas.clip();
    for (const one of seen(layout, scroll, height)) {
      if (one.placed.isPinned === isPinned) drawTrack(canvas, scene, one.placed, one.top);
    }
    canvas.restore();
  }
  drawReplacements(canvas, scene);
  drawRuler(canvas, scene);
}

function drawGrid(canvas: TrackCanvas, { stretch, height, colors }: TimelineScene): void {
  canvas.fillStyle = colors.line;
  canvas.globalAlpha = 0.45;
  for (const { at } of ticksOf(stretch)) {
    canvas.fillRect(Math.round(pixelOf(stretch, at)), RULER, 1, height - RULER);
  }
  canvas.globalAlpha = 1;
}

function drawRuler(canvas: TrackCanvas, { stretch, colors, layout }: TimelineScene): void {
  canvas.fillStyle = colors.ground;
  canvas.fillRect(0, 0, stretch.width, RULER);
  canvas.fillStyle = colors.line;
  canvas.fillRect(0, RULER - 1, stretch.width, 1);
  if (layout.pinnedHeight > 0)
    canvas.fillRect(0, RULER + layout.pinnedHeight - 1, stretch.width, 2);
  for (const { at, label } of ticksOf(stretch)) {
    const x = Math.round(pixelOf(stretch, at));
    canvas.fillStyle = colors.line;
    canvas.fillRect(x, RULER - 8, 1, 8);
    canvas.fillStyle = colors.soft;
    canvas.fillText(label, x + 4, RULER / 2 - 1);
  }
}

function drawTrack(canvas: TrackCanvas, scene: TimelineScene, placed: Placed, top: number): void {
  const { stretch, colors, height } = scene;
  canvas.globalAlpha = 1;
  canvas.fillStyle = colors.line;
  canvas.fillRect(0, top + placed.height - 1, stretch.width, 1);
  const processors = scene.processors[scene.layout.byTrack.indexOf(placed)];
  if (processors !== undefined) drawProcessors(canvas, scene, processors, top);
  for (const section of placed.sections) {
    for (let lane = 0; lane < section.section.lanes.count; lane++) {
      const y = top + laneTop(section, lane, placed);
      if (y > height || y + section.height < RULER) continue;
      drawLane({ canvas, scene, section, y, isCollapsed: placed.isCollapsed }, lane);
    }
  }
  canvas.globalAlpha = 1;
}

/** Draws the times at which the process ran on a processor. */
function drawProcessors(
  canvas: TrackCanvas,
  { stretch, colors }: TimelineScene,
  lanes: TrackLanes,
  top: number,
): void {
  const y = top + STRIP_PLACE.top;
  canvas.fillStyle = colors.raised;
  canvas.fillRect(0, y, stretch.width, STRIP_PLACE.height);
  canvas.fillStyle = colors.good;
  lanes.visit(0, stretch, (first, end, left, right) => {
    canvas.globalAlpha = alphaOf(lanes, first, end);
    canvas.fillRect(left, y, Math.max(right - left, 1), STRIP_PLACE.height);
  });
  canvas.globalAlpha = 1;
}

function alphaOf(lanes: TrackLanes, first: number, end: number): number {
  return FAINTEST + (1 - FAINTEST) * Math.min(lanes.density(first, end), 1);
}

/** A lane with its position. */
interface LaneDrawing {
  readonly canvas: TrackCanvas;
  readonly scene: TimelineScene;
  readonly section: PlacedSection;
  readonly y: number;
  readonly isCollapsed: boolean;
}

function drawLane(drawing: LaneDrawing, lane: number): void {
  const { canvas, scene, section, y } = drawing;
  const { lanes, role } = section.section;
  if (role !== "sends") {
    lanes.visit(lane, scene.stretch, (first, end, left, right) => {
      drawSpans(drawing, first, end, left, right);
    });
    return;
  }
  canvas.globalAlpha = ROLE_STRENGTH.sends;
  let last = Number.NEGATIVE_INFINITY;
  lanes.visit(lane, scene.stretch, (first, end, left, right) => {
    canvas.fillStyle = colorIn(scene, role, lanes.errorsIn(first, end) > 0);
    drawPoint(canvas, left, right, y + section.height / 2, left - last);
    last = right;
  });
}

function colorIn({ colors }: TimelineScene, role: Role, isError: boolean): string {
  return isError ? colors.error : colorOf(colors, role);
}

/** Draws a span, or several spans that are too close to be distinguished. */
function drawSpans(
  drawing: LaneDrawing,
  first: number,
  end: number,
  left: number,
  right: number,
): void {
  const { canvas, scene, section, y } = drawing;
  const { lanes, role } = section.section;
  const from = Math.max(left, -2);
  const width = Math.max(Math.min(right, scene.stretch.width + 2) - from, NARROWEST);
  const isError = lanes.errorsIn(first, end) > 0;
  const isOne = end === first + 1;
  canvas.fillStyle = colorIn(scene, role, isError && (isOne || width <= PARTS_LEAST));
  canvas.globalAlpha = ROLE_STRENGTH[role] * alphaOf(lanes, first, end);
  canvas.fillRect(from, y + 1, width, section.height - 2);
  if (isOne) drawOne(drawing, first, from, width);
  else if (isError && width > PARTS_LEAST) drawErrors(drawing, first, end);
}

/** Draws a span that is wide enough for details. */
function drawOne(drawing: LaneDrawing, place: number, left: number, width: number): void {
  const { canvas, scene, section, y, isCollapsed } = drawing;
  const { lanes, role } = section.section;
  if (width >= PARTS_LEAST) drawParts(drawing, place);
  if (width < NAME_LEAST || isCollapsed) return;
  const isPale = role === "waits" && lanes.errorsIn(place, place + 1) === 0;
  const color = isPale ? scene.colors.ink : scene.colors.paper;
  const room = { left, right: left + width, middle: y + section.height / 2, color };
  drawName(canvas, scene, lanes.row[place] as number, room);
}

/** Draws the errors among many other spans. */
function drawErrors({ canvas, scene, section, y }: LaneDrawing, first: number, end: number): void {
  canvas.globalAlpha = 1;
  canvas.fillStyle = scene.colors.error;
  section.section.lanes.visitErrors(first, end, scene.stretch, (x) => {
    canvas.fillRect(x, y + 1, NARROWEST, section.height - 2);
  });
}

/** The opacity of spans by role. Waiting processes are fainter, because they do not work. */
const ROLE_STRENGTH: Readonly<Record<Role, number>> = {
  bus: 0.55,
  serves: 0.85,
  waits: 0.5,
  sends: 0.9,
};

/** Draws a message without a reply as a point. Points that are close together become bars. */
function drawPoint(
  canvas: TrackCanvas,
  left: number,
  right: number,
  middle: number,
  room: number,
): void {
  if (room < POINT_ROOM) {
    canvas.fillRect(left, middle - 2, Math.max(right - left, 1.5), 5);
    return;
  }
  canvas.beginPath();
  canvas.moveTo(left, middle - 4);
  canvas.lineTo(left + 3, middle + 3);
  canvas.lineTo(left - 3, middle + 3);
  canvas.fill();
}

/** Minimum distance of points that are drawn as points, in pixels. */
const POINT_ROOM = 7;

/**
 * Draws the phases in the bus within a span: before and after the service, or routing and sending.
 */
function drawParts({ canvas, scene, section, y }: LaneDrawing, place: number): void {
  const { lanes, role } = section.section;
  if (role === "serves") return;
  const { recording, stretch, colors } = scene;
  const row = lanes.row[place] as number;
  const at = lanes.from[place] as number;
  const part = (from: number, until: number): void => {
    const left = pixelOf(stretch, from);
    const right = pixelOf(stretch, until);
    if (right > left) canvas.fillRect(left, y + 1, right - left, section.height - 2);
  };
  canvas.fillStyle = colors.bus;
  canvas.globalAlpha = 1;
  if (role === "bus") {
    const routed = recording.routed.get(row);
    part(at, at + (routed === NONE ? 0 : routed));
    return;
  }
  const until = lanes.until[place] as number;
  const call = recording.callOf(row);
  const reply = call === NONE ? NONE : recording.partner.get(call);
  if (reply === NONE) return;
  part(at, Math.min(at + deliveredAfter(recording, call), until));
  part(until - deliveredAfter(recording, reply), until);
}

/** The position and width of a name. */
interface TrackRoom {
  readonly left: number;
  readonly right: number;
  readonly middle: number;
  readonly color: string;
}

function drawName(canvas: TrackCanvas, scene: TimelineScene, row: number, room: TrackRoom): void {
  const from = Math.max(room.left, 0) + 4;
  const width = Math.min(room.right, scene.stretch.width) - from - 4;
  const characters = Math.floor(width / CHARACTER);
  if (characters < 3) return;
  canvas.globalAlpha = 1;
  canvas.fillStyle = room.color;
  canvas.fillText(nameOf(scene.recording, row, characters), from, room.middle, width);
}
