// Computes the data of a scene for many messages in slices.

import type { Recording } from "../../model/recording";
import { inSlices } from "../../overview/slices";
import { farCalls } from "./calls";
import { clockOf } from "./clock";
import type { Scene } from "./scene";
import { Tally } from "./tally";

/** The data that does not depend on lines and columns. */
export type Gathered = Pick<Scene, "rows" | "tally" | "clock" | "far">;

/** Computes the data of these messages; undefined if the work was aborted. */
export async function gather(
  recording: Recording,
  rows: Uint32Array,
  abort: AbortSignal,
): Promise<Gathered | undefined> {
  const tally = new Tally();
  let clock = clockOf(recording, rows.subarray(0, 0), undefined, 0);
  let far: readonly number[] = [];
  const step = (from: number, to: number): void => {
    const known = rows.subarray(0, to);
    tally.count(recording, known, from);
    clock = clockOf(recording, known, clock, from);
    far = farCalls(recording, known, far, from);
  };
  const isWhole = await inSlices(rows.length, step, abort, SLICE_ROWS);
  return isWhole ? { rows, tally, clock, far } : undefined;
}

/** Rows of a slice. Each slice copies the result so far, so the slices must not be small. */
const SLICE_ROWS = 50_000;
