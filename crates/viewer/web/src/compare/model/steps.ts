// Steps between the messages of two diagrams.

import { lineOfRow, rowOfLine, type Scene } from "../../sequence/model/scene";
import { lowerBound, upperBound } from "../../state/visible";

/** A message of one of the diagrams. */
export interface At {
  readonly side: 0 | 1;
  readonly row: number;
}

type Scenes = readonly [Scene, Scene];

/** The message in the line below or above, preferably on the same side. */
export function stepLine(scenes: Scenes, at: At, by: 1 | -1): At | undefined {
  const line = lineOfRow(scenes[at.side], at.row);
  return line === undefined ? undefined : inLine(scenes, at.side, line + by);
}

/** The message in the next or the previous line that contains a difference. */
export function stepDifferent(
  scenes: Scenes,
  different: readonly number[],
  line: number,
  by: 1 | -1,
): At | undefined {
  const place = by === 1 ? upperBound(different, line) : lowerBound(different, line) - 1;
  const found = different[place];
  if (found === undefined) return undefined;
  const rows = scenes.map((scene) => rowOfLine(scene, found));
  const side = rows.findIndex((row, side) => isDifferent(scenes[side as 0 | 1], row));
  return side === 0 || side === 1 ? { side, row: rows[side] as number } : undefined;
}

function isDifferent(scene: Scene, row: number | undefined): boolean {
  return row !== undefined && scene.noteOf(row) !== undefined;
}

function inLine(scenes: Scenes, side: 0 | 1, line: number): At | undefined {
  const own = rowOfLine(scenes[side], line);
  if (own !== undefined) return { side, row: own };
  const there = side === 0 ? 1 : 0;
  const other = rowOfLine(scenes[there], line);
  return other === undefined ? undefined : { side: there, row: other };
}
