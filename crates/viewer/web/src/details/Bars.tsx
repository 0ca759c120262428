// A small histogram of durations, in which one duration is highlighted.

import type { JSX } from "preact";
import { counted, duration } from "../parts/format";
import { barOf, barRange, type Histogram } from "./tally";

interface BarsProps {
  readonly histogram: Histogram;
  /** The duration that is highlighted. */
  readonly own: number | undefined;
}

export function Bars({ histogram, own }: BarsProps): JSX.Element {
  const { counts, min, max } = histogram;
  const most = Math.max(...counts);
  const marked = own === undefined ? -1 : barOf(histogram, own);
  const words = `From ${duration(min)} to ${duration(max)}`;
  return (
    <figure class="bars" aria-label={`Durations: ${words.toLowerCase()}`}>
      <div class="bars-plot" aria-hidden="true">
        {counts.map((number, bar) => (
          <span
            key={bar}
            class={bar === marked ? "marked" : ""}
            title={title(histogram, bar, number)}
            style={{ "--height": number === 0 ? 0 : Math.max(SEEN_MIN, number / most) }}
          />
        ))}
      </div>
      <figcaption class="note">
        <span>{duration(min)}</span>
        {own === undefined ? null : <strong>this: {duration(own)}</strong>}
        <span>{duration(max)}</span>
      </figcaption>
    </figure>
  );
}

function title(histogram: Histogram, bar: number, number: number): string {
  const [from, to] = barRange(histogram, bar).map(duration);
  return `${counted(number, "call", "calls")} of ${from} to ${to}`;
}

/** The minimum relative height of a bar, so that a single call among thousands is visible. */
const SEEN_MIN = 0.06;
