// A tooltip about the object below the pointer.

import type { JSX } from "preact";
import type { Recording } from "../model/recording";
import { count, duration, share } from "../parts/format";
import type { TrackHit } from "./hit";
import { linesOf } from "./label";
import type { Timeline } from "./state";

/** Maximum width of the tooltip, and its distance from the pointer, in pixels. */
const WIDTH = 380;
const AWAY = 14;

export function Tip({ timeline }: { readonly timeline: Timeline }): JSX.Element | null {
  const tracks = timeline.tracks.value;
  const hit = timeline.hit.value;
  const pointer = timeline.pointer.value;
  if (
    tracks === undefined ||
    hit === undefined ||
    pointer === undefined ||
    timeline.band.value !== undefined
  )
    return null;
  const { width, height } = timeline.size.value;
  const lines = linesOfHit(tracks.recording, hit);
  const left = Math.max(Math.min(pointer.x + AWAY, width - WIDTH), 0);
  const isLow = pointer.y > height - 120;
  const place = isLow
    ? { bottom: `${height - pointer.y + AWAY}px` }
    : { top: `${pointer.y + AWAY}px` };
  return (
    <div class="timeline-tip" style={{ left: `${left}px`, maxWidth: `${WIDTH}px`, ...place }}>
      {lines.map((line, place) => (
        <div key={line} class={place === 0 ? "timeline-tip-title" : ""}>
          {line}
        </div>
      ))}
    </div>
  );
}

function linesOfHit(recording: Recording, hit: TrackHit): string[] {
  const number = hit.end - hit.first;
  if (number === 1) return linesOf(recording, hit.row, hit.role);
  const { lanes, first, end } = hit;
  const length = (lanes.until[end - 1] as number) - (lanes.from[first] as number);
  const errors = lanes.errorsIn(first, end);
  return [
    `${count(number)} messages in ${duration(length)}`,
    ...(hit.role === "sends"
      ? []
      : [`busy ${share(Math.min(lanes.density(first, end), 1))} of it`]),
    ...(errors > 0 ? [`${count(errors)} errors or without a reply`] : []),
    "click to zoom in",
  ];
}
