// Draws when the program of a bus was replaced, while messages waited.

import { duration } from "../parts/format";
import { drawable } from "../sequence/model/text";
import { RULER } from "./layout";
import type { TimelineScene } from "./scene";
import { pixelOf } from "./stretch";

/** Height of a label, and its distance from the line, in pixels. */
const LABEL_HEIGHT = 17;
const PADDING = 5;

/** Draws each pause over all tracks, with a label if there is room for it. */
export function drawReplacements(canvas: CanvasRenderingContext2D, scene: TimelineScene): void {
  const { recording, stretch, colors, height } = scene;
  let free = Number.NEGATIVE_INFINITY;
  for (const bus of recording.buses) {
    for (const { at, paused_ns, old, new: version } of bus.replacements ?? []) {
      if (at < stretch.from || at - paused_ns > stretch.until) continue;
      const left = Math.round(pixelOf(stretch, at - paused_ns));
      const width = Math.max(Math.round(pixelOf(stretch, at)) - left, 1);
      canvas.fillStyle = colors.accent;
      canvas.globalAlpha = 0.25;
      canvas.fillRect(left, RULER, width, height - RULER);
      canvas.globalAlpha = 1;
      canvas.fillRect(left, RULER, 1, height - RULER);
      const versions = old === version ? version : `${old} → ${version}`;
      const name = recording.buses.length > 1 ? bus.label : "bus";
      const text = `${name} replaced: ${versions}, paused ${duration(paused_ns)}`;
      const words = drawable(text);
      const needed = canvas.measureText(words).width + 2 * PADDING;
      const start = Math.min(Math.max(left, 0), stretch.width - needed);
      if (start < free) continue;
      free = start + needed + PADDING;
      canvas.fillRect(start, height - LABEL_HEIGHT, needed, LABEL_HEIGHT);
      canvas.fillStyle = colors.paper;
      canvas.fillText(words, start + PADDING, height - LABEL_HEIGHT / 2);
    }
  }
}
