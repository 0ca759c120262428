// Waiting times of callers by message size.

import { Kind, NONE, type Recording } from "../model/recording";
import type { Span } from "../state/store";

/** The total time from call to return in nanoseconds, by size class. */
export class SizeTimes {
  readonly totals: Float64Array;

  /** Creates classes with these largest sizes, which must be ascending. */
  constructor(
    private readonly ends: readonly number[],
    private readonly span: Span | undefined,
  ) {
    this.totals = new Float64Array(ends.length);
  }

  /** Adds a message, if it is a call that returned. */
  add(recording: Recording, row: number): void {
    if (recording.kind.get(row) !== Kind.Call) return;
    const reply = recording.partner.get(row);
    if (reply === NONE || recording.kind.get(reply) !== Kind.Return) return;
    const at = recording.at.get(row);
    if (this.span !== undefined && (at < this.span.from || at >= this.span.until)) return;
    // The larger one of call and reply determines the cost. Empty classes are not part of the
    // table.
    const size = Math.max(recording.size.get(row), recording.size.get(reply));
    const place = this.ends.findIndex((end) => size <= end);
    if (place >= 0)
      this.totals[place] = (this.totals[place] as number) + (recording.durationOf(row) ?? 0);
  }
}
