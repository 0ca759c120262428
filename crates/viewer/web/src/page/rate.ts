// How many messages come in a second.

/** So long a rate looks back. */
const WINDOW_MS = 3000;

/** Counts that were seen at times, and the rate between them. */
export class Rate {
  private readonly seen: { readonly at: number; readonly count: number }[] = [];

  /** Takes note of how many there were at a time in milliseconds. */
  note(at: number, count: number): void {
    this.seen.push({ at, count });
    // One that is older stays, to count from.
    while ((this.seen[1]?.at ?? at) <= at - WINDOW_MS) this.seen.shift();
  }

  /** How many came in a second; undefined as long as that cannot be said. */
  get perSecond(): number | undefined {
    const first = this.seen[0];
    const last = this.seen.at(-1);
    if (first === undefined || last === undefined || last.at - first.at < MIN_MS) return undefined;
    return ((last.count - first.count) * 1000) / (last.at - first.at);
  }
}

/** In less nothing can be said. */
const MIN_MS = 500;
