// Messages ordered by time.

import type { Recording } from "../../model/recording";
import { lowerBound } from "../../state/visible";

/** The times of messages in ascending order. */
export interface Clock {
  readonly times: Float64Array;
  /** The position of the message for each time. */
  readonly places: Uint32Array;
}

/** The times of the displayed messages. `before` is the result for the first `kept` of them. */
export function clockOf(
  recording: Recording,
  rows: Uint32Array,
  before: Clock | undefined,
  kept: number,
): Clock {
  const at = recording.at.slice(0, recording.length);
  const times = new Float64Array(rows.length);
  const places = new Uint32Array(rows.length);
  if (before !== undefined && kept > 0) {
    times.set(before.times.subarray(0, kept));
    places.set(before.places.subarray(0, kept));
  }
  for (let place = kept; place < rows.length; place++) {
    const time = at[rows[place] as number] as number;
    let slot = place;
    // In recordings of the bus itself messages are nearly in order: a later one may be slightly
    // older.
    for (; slot > 0 && (times[slot - 1] as number) > time; slot--) {
      if (place - slot >= SHIFT_MAX) return sortedClock(at, rows);
      times[slot] = times[slot - 1] as number;
      places[slot] = places[slot - 1] as number;
    }
    times[slot] = time;
    places[slot] = place;
  }
  return { times, places };
}

/** The slot of the first message at or after a time. */
export function slotAt(clock: Clock, time: number): number {
  return lowerBound(clock.times, time);
}

/** Several recordings on one clock must be sorted. */
function sortedClock(at: Float64Array, rows: Uint32Array): Clock {
  const time = (place: number): number => at[rows[place] as number] as number;
  const places = Uint32Array.from(rows, (_, place) => place);
  places.sort((one, other) => time(one) - time(other) || one - other);
  return { times: Float64Array.from(places, time), places };
}

/** Maximum number of messages that one message is moved past before all are sorted. */
const SHIFT_MAX = 4096;
