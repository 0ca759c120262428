// The scene: all data that a drawing of the diagram needs, computed once after each change.

import { Kind, NONE, Recording } from "../../model/recording";
import { lowerBound } from "../../state/visible";
import type { Axis } from "./axis";
import { farCalls } from "./calls";
import { type Clock, clockOf } from "./clock";
import { type ColumnOptions, type Columns, columnsOf } from "./columns";
import { keptOf } from "./kept";
import { Followed, fixedLanes, type Lanes, reusedLanes, type Staged } from "./lanes";
import { type Folding, type Lines, lineOf, linesOf, spanOf } from "./runs";
import { Tally } from "./tally";

export interface Scene {
  readonly recording: Recording;
  /** The displayed messages. */
  readonly rows: Uint32Array;
  readonly lines: Lines;
  readonly columns: Columns;
  readonly placement: Placement;
  readonly clock: Clock;
  readonly tally: Tally;
  /** Calls whose replies are many rows later. */
  readonly far: readonly number[];
  readonly folding: Folding;
  /** The reference of displayed times, in nanoseconds since the first message. */
  readonly origin: number;
  /** The note that is displayed beside the name of a message. */
  readonly noteOf: (row: number) => Note | undefined;
}

/** The positions of columns. Expensive parts are computed on demand. */
export class Placement {
  private readonly known = new Map<Axis["is"], Lanes>();

  constructor(
    private readonly make: (axis: Axis["is"]) => Lanes,
    /** The state that is extended when more messages arrive. */
    readonly followed?: Followed,
  ) {}

  /** The lanes of columns, for an axis. */
  lanes(axis: Axis["is"]): Lanes {
    const lanes = this.known.get(axis) ?? this.make(axis);
    this.known.set(axis, lanes);
    return lanes;
  }
}

/** A placement in which each column has its own lane. */
export function fixedPlacement({ all }: Columns): Placement {
  const lanes = fixedLanes(all.length);
  return new Placement(() => lanes);
}

/** The positions of columns. In a live diagram the state of the last scene is extended. */
function placementOf(
  staged: Staged,
  { growth, order }: ColumnOptions,
  before: Placement | undefined,
): Placement {
  if (order !== "compact") return fixedPlacement(staged.columns);
  if (growth === "complete") {
    return new Placement((axis) => reusedLanes(staged, axis === "order" ? "screen" : "whole"));
  }
  const followed = before?.followed ?? new Followed("live");
  return new Placement(
    (axis) =>
      axis === "order" ? reusedLanes(staged, "live", followed) : reusedLanes(staged, "whole"),
    followed,
  );
}

/** A note beside the name of a message, with its importance. */
export interface Note {
  readonly text: string;
  readonly tone: "plain" | "worse";
}

/** A scene without notes, whose times count from the first message. */
const PLAIN: Pick<Scene, "origin" | "noteOf"> = { origin: 0, noteOf: () => undefined };

const NO_COLUMNS: Columns = { all: [], ofPeer: new Uint32Array() };

/** The scene without messages. */
export const EMPTY_SCENE: Scene = {
  ...PLAIN,
  recording: new Recording(),
  rows: new Uint32Array(),
  lines: { count: 0, first: new Uint32Array(1), run: new Uint32Array() },
  columns: NO_COLUMNS,
  placement: fixedPlacement(NO_COLUMNS),
  clock: { times: new Float64Array(), places: new Uint32Array() },
  tally: new Tally(),
  far: [],
  folding: { folds: "nothing", unfolded: new Set() },
};

/** The scene of displayed messages. It reuses data of the last scene of the same messages. */
export function sceneOf(
  recording: Recording,
  rows: Uint32Array,
  folding: Folding,
  columns: ColumnOptions,
  last?: Scene,
): Scene {
  const known = last?.recording === recording ? last : undefined;
  const kept = known === undefined ? 0 : keptOf(known.rows, rows);
  const tally = known !== undefined && kept > 0 ? known.tally : new Tally();
  tally.count(recording, rows, kept);
  const lines = sceneLines(recording, rows, folding, known, kept);
  const clock = clockOf(recording, rows, known?.clock, kept);
  const goesOn = kept > 0 && known?.folding === folding;
  const staged = { recording, rows, lines, clock, columns: columnsOf(recording, tally, columns) };
  return {
    ...PLAIN,
    ...staged,
    placement: placementOf(staged, columns, goesOn ? known?.placement : undefined),
    tally,
    folding,
    far: farCalls(recording, rows, known?.far, kept),
  };
}

function sceneLines(
  recording: Recording,
  rows: Uint32Array,
  folding: Folding,
  known: Scene | undefined,
  kept: number,
): Lines {
  const isSame = known?.folding.folds === folding.folds;
  if (!isSame || known.folding.unfolded !== folding.unfolded) {
    return linesOf(recording, rows, folding);
  }
  const isUnchanged = kept === rows.length && kept === known.rows.length;
  return isUnchanged ? known.lines : linesOf(recording, rows, folding, known.lines, kept);
}

/** The position of a message among the displayed ones; undefined if it is not displayed. */
export function placeOf(scene: Scene, row: number): number | undefined {
  const place = lowerBound(scene.rows, row);
  return scene.rows[place] === row ? place : undefined;
}

/**
 * True if the time of a message is before the time of the message above it. Messages are in the
 * order in which the bus routed them, and their times are when the bus received them.
 */
export function isBeforeLast(scene: Scene, row: number): boolean {
  const place = placeOf(scene, row) ?? 0;
  if (place === 0) return false;
  const { at } = scene.recording;
  return at.get(row) < at.get(scene.rows[place - 1] as number);
}

/** The line of a message; undefined if it is not displayed. */
export function lineOfRow(scene: Scene, row: number): number | undefined {
  const place = placeOf(scene, row);
  return place === undefined ? undefined : lineOf(scene.lines, place);
}

/** The row of the first message of a line; undefined if it has none. */
export function rowOfLine(scene: Scene, line: number): number | undefined {
  if (spanOf(scene.lines, line) === 0) return undefined;
  return scene.rows[scene.lines.first[line] as number];
}

/** The column of a connection; {@link NONE} if there is no connection, or no column for it. */
export function columnOf(scene: Scene, peer: number): number {
  return peer === NONE ? NONE : (scene.columns.ofPeer[peer] ?? NONE);
}

/** The lane of a connection at a message; {@link NONE} if it has none there. */
export function laneOf(scene: Scene, axis: Axis, peer: number, row: number): number {
  const column = columnOf(scene, peer);
  const line = column === NONE ? undefined : lineOfRow(scene, row);
  return line === undefined ? NONE : scene.placement.lanes(axis.is).laneAt(column, line);
}

/** The symbol of a message. */
export type Mark =
  | "call"
  /** To a name without an owner, or to an unknown recipient. */
  | "lost"
  | "return"
  | "error"
  /** A signal with one recipient. */
  | "directed"
  /** A signal whose recipients are known. */
  | "received"
  /** A signal without recipients. */
  | "unreceived"
  /** A signal whose recipients are unknown. */
  | "broadcast"
  | "unknown";

/** Returns the symbol of a message. */
export function markOf(recording: Recording, row: number): Mark {
  const isAddressed = recording.to.get(row) !== NONE;
  switch (recording.kind.get(row)) {
    case Kind.Call:
      return isAddressed ? "call" : "lost";
    case Kind.Return:
      return "return";
    case Kind.Error:
      return "error";
    case Kind.Signal:
      return isAddressed ? "directed" : signalMark(recording, row);
    default:
      return "unknown";
  }
}

function signalMark(recording: Recording, row: number): Mark {
  const end = recording.recipientsEnd.get(row);
  const start = row === 0 ? 0 : recording.recipientsEnd.get(row - 1);
  if (end > start) return "received";
  return recording.routed.get(row) === NONE ? "broadcast" : "unreceived";
}
