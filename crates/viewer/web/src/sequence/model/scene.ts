// All that a drawing of the diagram needs to know of the recording, worked out once when it changes.

import { Kind, NONE, Recording } from "../../model/recording";
import { lowerBound } from "../../state/visible";
import { farCalls } from "./calls";
import { type Clock, clockOf } from "./clock";
import { type ColumnOptions, type Columns, columnsOf } from "./columns";
import { type Folding, type Lines, lineOf, linesOf, spanOf } from "./runs";
import { keptOf } from "./shown";
import { Tally } from "./tally";

export interface Scene {
  readonly recording: Recording;
  /** The shown messages. */
  readonly rows: Uint32Array;
  readonly lines: Lines;
  readonly columns: Columns;
  readonly clock: Clock;
  readonly tally: Tally;
  /** Calls whose replies are far away. */
  readonly far: readonly number[];
  readonly folding: Folding;
  /** From where times are told, in nanoseconds since the first message. */
  readonly origin: number;
  /** What is said of a message beside its name. */
  readonly noteOf: (row: number) => Note | undefined;
}

/** What is said of a message beside its name, and how much it matters. */
export interface Note {
  readonly text: string;
  readonly tone: "plain" | "worse";
}

/** A scene without notes, whose times are told from the first message. */
const PLAIN: Pick<Scene, "origin" | "noteOf"> = { origin: 0, noteOf: () => undefined };

/** The scene without messages. */
export const EMPTY_SCENE: Scene = {
  ...PLAIN,
  recording: new Recording(),
  rows: new Uint32Array(),
  lines: { count: 0, first: new Uint32Array(1), run: new Uint32Array() },
  columns: { all: [], ofPeer: new Uint32Array() },
  clock: { times: new Float64Array(), places: new Uint32Array() },
  tally: new Tally(),
  far: [],
  folding: { folds: "nothing", unfolded: new Set() },
};

/** The scene of shown messages. What the last one found out of the same messages is kept. */
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
  return {
    ...PLAIN,
    recording,
    rows,
    tally,
    folding,
    lines: sceneLines(recording, rows, folding, known, kept),
    columns: columnsOf(recording, tally, columns),
    clock: clockOf(recording, rows, known?.clock, kept),
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

/** The place of a message among the shown ones; undefined if it is not. */
export function placeOf(scene: Scene, row: number): number | undefined {
  const place = lowerBound(scene.rows, row);
  return scene.rows[place] === row ? place : undefined;
}

/** The line in which a message is; undefined if it is not shown. */
export function lineOfRow(scene: Scene, row: number): number | undefined {
  const place = placeOf(scene, row);
  return place === undefined ? undefined : lineOf(scene.lines, place);
}

/** The row of the first message of a line; undefined if it has none. */
export function rowOfLine(scene: Scene, line: number): number | undefined {
  if (spanOf(scene.lines, line) === 0) return undefined;
  return scene.rows[scene.lines.first[line] as number];
}

/** The column of a connection; {@link NONE} for nobody, and for who has none. */
export function columnOf(scene: Scene, peer: number): number {
  return peer === NONE ? NONE : (scene.columns.ofPeer[peer] ?? NONE);
}

/** How a message is drawn. */
export type Mark =
  | "call"
  /** To a name that nobody owns, or to somebody of whom nothing is known. */
  | "lost"
  | "return"
  | "error"
  /** A signal to one connection. */
  | "directed"
  /** A signal of which it is known who got it. */
  | "heard"
  /** A signal that nobody got. */
  | "unheard"
  /** A signal of which nobody knows who got it. */
  | "broadcast"
  | "unknown";

/** How a message is drawn. */
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
  if (end > start) return "heard";
  return recording.routed.get(row) === NONE ? "broadcast" : "unheard";
}
