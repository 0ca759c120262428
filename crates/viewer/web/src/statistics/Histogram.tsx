// A small histogram for table cells.

import type { JSX } from "preact";
import { bytes, count, duration } from "../parts/format";
import { BINS, binStart, type HistogramMeasure, type Spread } from "./histograms";

interface HistogramProps {
  readonly spread: Spread | undefined;
  readonly measure: HistogramMeasure;
}

/**
 * A histogram whose bars are as high as the square root of their share, so that single slow calls
 * are visible. A single value has no histogram, because the other columns already show it.
 */
export function Histogram({ spread, measure }: HistogramProps): JSX.Element | null {
  if (spread === undefined || valuesIn(spread) < 2) return null;
  const most = spread.bins.reduce((one, other) => Math.max(one, other), 1);
  const path = Array.from(spread.bins, (messages, bin) => {
    if (messages === 0) return "";
    const high = Math.max(1.5, HEIGHT * Math.sqrt(messages / most));
    return `M${bin} ${HEIGHT}v${-high}h0.86v${high}z`;
  });
  return (
    <svg
      class={`histogram of-${measure}`}
      viewBox={`0 0 ${BINS} ${HEIGHT}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={words(spread, measure)}
    >
      <title>{words(spread, measure)}</title>
      <path class="histogram-base" d={`M0 ${HEIGHT - 0.4}h${BINS}v0.4h-${BINS}z`} />
      <path d={path.join("")} />
    </svg>
  );
}

function valuesIn({ bins }: Spread): number {
  return bins.reduce((sum, values) => sum + values, 0);
}

/** A description of the histogram: the most frequent range, the maximum, and the scale. */
function words({ bins, largestValue }: Spread, measure: HistogramMeasure): string {
  const shown = measure === "durations" ? duration : bytes;
  const most = bins.indexOf(bins.reduce((one, other) => Math.max(one, other), 0));
  const [from, to] = [binStart(most, measure), binStart(most + 1, measure)].map(shown);
  const inside = `most often (${count(bins[most] ?? 0)} times) ${from} to ${to}`;
  return `${inside}, at most ${shown(largestValue)}; from ${shown(binStart(0, measure))} to ${shown(binStart(BINS, measure))}, each bin ${STEP} times as wide as the one before`;
}

const HEIGHT = 16;
const STEP = "1.8";
