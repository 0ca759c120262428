// Symbols at the caller for calls that the service did not answer.

import type { Ending } from "../../model/outcome";
import { type Pen, stroke } from "./pen";
import type { Theme } from "./theme";

/** The color of an outcome. */
export function colorOfEnding(theme: Theme, ending: Ending): string {
  switch (ending) {
    case "failed":
    case "timed-out":
    case "callee-left":
      return theme.error;
    case "waiting":
    case "caller-left":
      return theme.verySlow;
    default:
      return theme.soft;
  }
}

/**
 * Draws the symbol of a call that the service did not answer: dots, a clock, or a cross in a
 * circle.
 */
export function drawEnding(pen: Pen, ending: Ending, x: number, y: number): void {
  const inside = INSIDE[ending];
  if (inside === undefined) return;
  const { context, theme } = pen;
  context.strokeStyle = colorOfEnding(theme, ending);
  context.fillStyle = theme.paper;
  context.lineWidth = 1.5;
  context.beginPath();
  context.arc(x, y, RADIUS, 0, 2 * Math.PI);
  context.fill();
  context.stroke();
  for (const [x1, y1, x2, y2] of inside) stroke(context, x + x1, y + y1, x + x2, y + y2);
}

/** A line between two points, relative to the center. */
type EndingLine = readonly [x1: number, y1: number, x2: number, y2: number];

/** The lines inside of the circle. The legend uses them, too. */
export const INSIDE: Readonly<Partial<Record<Ending, readonly EndingLine[]>>> = {
  waiting: [
    [-3.6, 0, -2.4, 0],
    [-0.6, 0, 0.6, 0],
    [2.4, 0, 3.6, 0],
  ],
  "timed-out": [
    [0, 0, 0, -4],
    [0, 0, 3, 1.5],
  ],
  "caller-left": [
    [-2.6, -2.6, 2.6, 2.6],
    [-2.6, 2.6, 2.6, -2.6],
  ],
  "callee-left": [[-3, 0, 3, 0]],
};

/** The radius of the circle. */
export const RADIUS = 6;
