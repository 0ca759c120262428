// Finds the object at a position of the canvas.

import { type Axis, LINE, MARGIN, seenLines, timeAt } from "./axis";
import { slotAt } from "./clock";
import { columnAt, type Geometry, TURN } from "./geometry";
import { rowOfLine, type Scene } from "./scene";

/** An object under the pointer. */
export type DiagramHit =
  | { readonly is: "nothing" }
  | { readonly is: "column"; readonly column: number }
  | { readonly is: "message"; readonly row: number }
  /**
   * The name of a message's sender or recipient that is outside of the visible part, with its lane.
   */
  | { readonly is: "end"; readonly row: number; readonly lane: number }
  /** The size of a group of repetitions, which folds and unfolds the group. */
  | { readonly is: "run"; readonly row: number };

const NOTHING: DiagramHit = { is: "nothing" };

/** The object at a position of the canvas, if `offset` of the drawing is at the top. */
export function hitAt(
  scene: Scene,
  geometry: Geometry,
  axis: Axis,
  offset: number,
  x: number,
  y: number,
): DiagramHit {
  if (y < geometry.head) return headHit(scene, geometry, axis, offset, x, y);
  const down = y - geometry.head + offset;
  if (axis.is === "time") return timeHit(scene, axis, down);
  const line = Math.floor(down / LINE);
  const row = rowOfLine(scene, line);
  if (row === undefined) return NOTHING;
  const isRun = scene.lines.run[line] !== 0;
  const isAtNumber = x > geometry.left - RUN_WIDTH && x < geometry.left;
  return isRun && isAtNumber ? { is: "run", row } : { is: "message", row };
}

function headHit(
  scene: Scene,
  geometry: Geometry,
  axis: Axis,
  offset: number,
  x: number,
  y: number,
): DiagramHit {
  if (x < geometry.left) return NOTHING;
  const lean = geometry.headStyle === "turned" ? (geometry.head - y) / Math.tan(TURN) : 0;
  const lane = columnAt(geometry, Math.max(geometry.left, x - lean));
  const { start, end } = seenLines(scene, axis, offset, offset + geometry.height - geometry.head);
  const lanes = scene.placement.lanes(axis.is);
  const stay = lane === undefined ? undefined : lanes.firstIn(lane, start, end);
  return stay === undefined ? NOTHING : { is: "column", column: stay.column };
}

/** The message that is nearest in time, if it is near enough. */
function timeHit(scene: Scene, axis: Axis & { readonly is: "time" }, y: number): DiagramHit {
  const { clock, rows } = scene;
  const slot = slotAt(clock, timeAt(axis, y));
  const distance = (at: number): number => {
    const time = clock.times[at];
    return time === undefined
      ? Number.POSITIVE_INFINITY
      : Math.abs((time - axis.from) * axis.scale + MARGIN - y);
  };
  const nearest = distance(slot - 1) <= distance(slot) ? slot - 1 : slot;
  if (distance(nearest) > NEAR) return NOTHING;
  return { is: "message", row: rows[clock.places[nearest] as number] as number };
}

const RUN_WIDTH = 84;
const NEAR = 9;
