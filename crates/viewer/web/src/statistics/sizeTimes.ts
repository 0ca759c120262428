// How long callers have waited, by the size of what they have called.

import { Kind, NONE, type Recording } from "../model/recording";
import type { Span } from "../state/store";

/** Nanoseconds from call to return, by classes of size. */
export class SizeTimes {
  readonly totals: Float64Array;

  /** `ends` are the largest sizes of the classes, ascending. */
  constructor(
    private readonly ends: readonly number[],
    private readonly span: Span | undefined,
  ) {
    this.totals = new Float64Array(ends.length);
  }

  /** Counts a message, if it is a call that was returned. */
  add(recording: Recording, row: number): void {
    if (recording.kind.get(row) !== Kind.Call) return;
    const reply = recording.partner.get(row);
    if (reply === NONE || recording.kind.get(reply) !== Kind.Return) return;
    const at = recording.at.get(row);
    if (this.span !== undefined && (at < this.span.from || at >= this.span.until)) return;
    // A class in which nothing was is not told; the larger of both messages costs most.
    const size = Math.max(recording.size.get(row), recording.size.get(reply));
    const place = this.ends.findIndex((end) => size <= end);
    if (place >= 0)
      this.totals[place] = (this.totals[place] as number) + (recording.durationOf(row) ?? 0);
  }
}
