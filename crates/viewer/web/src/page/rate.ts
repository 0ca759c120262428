// The current rate of messages.

/** The period over which the rate is averaged. */
const WINDOW_MS = 3000;

/** Computes a rate from counts that were observed over time. */
export class Rate {
  private readonly observations: { readonly at: number; readonly count: number }[] = [];

  /** Records the count observed at a time in milliseconds. */
  add(at: number, count: number): void {
    this.observations.push({ at, count });
    // The last observation before the window is kept as the base of the difference.
    while ((this.observations[1]?.at ?? at) <= at - WINDOW_MS) this.observations.shift();
  }

  /** Messages per second; undefined until observations cover at least {@link MIN_MS}. */
  get perSecond(): number | undefined {
    const first = this.observations[0];
    const last = this.observations.at(-1);
    if (first === undefined || last === undefined || last.at - first.at < MIN_MS) return undefined;
    return ((last.count - first.count) * 1000) / (last.at - first.at);
  }
}

/** The shortest period from which a rate is computed. */
const MIN_MS = 500;
