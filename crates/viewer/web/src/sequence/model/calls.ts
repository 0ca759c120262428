// Calls whose replies are many rows later.

import { Kind, NONE, type Recording } from "../../model/recording";

/** Number of rows after a call that each drawing searches for its reply. */
export const NEAR_ROWS = 2000;

/**
 * The rows of calls whose replies are more than {@link NEAR_ROWS} rows away, ordered by their
 * replies. `before` is the result for the first `kept` of these messages.
 */
export function farCalls(
  recording: Recording,
  rows: Uint32Array,
  before: readonly number[] = [],
  kept = 0,
): readonly number[] {
  const { length } = recording;
  const kind = recording.kind.slice(0, length);
  const partner = recording.partner.slice(0, length);
  const far = kept === 0 ? [] : [...before];
  for (let place = kept; place < rows.length; place++) {
    const row = rows[place] as number;
    if (kind[row] !== Kind.Return && kind[row] !== Kind.Error) continue;
    const call = partner[row] as number;
    if (call !== NONE && row - call > NEAR_ROWS) far.push(call);
  }
  return far;
}

/**
 * The part of a call's duration that it spent in the bus before the callee got it; 0 if unknown.
 */
export function busShare(recording: Recording, call: number, reply: number): number {
  const delivered = recording.delivered.get(call);
  const length = recording.writtenAt(reply) - recording.at.get(call);
  if (delivered === NONE || length <= 0) return 0;
  return Math.min(1, delivered / length);
}
