// The diagram as a file.

import type { Diagram } from "../Diagram";
import { contentHeight, LINE, MARGIN, seenLines, yOfRow } from "../model/axis";
import type { Geometry } from "../model/geometry";
import { pdfOf } from "./pdf";
import { Sheet } from "./Sheet";
import { svgOf } from "./svg";

/** What of the diagram is in a picture. */
export type Scope =
  /** What is seen, with all of its columns. */
  | "view"
  /** The selected call, until its reply. */
  | "call"
  /** All messages that are shown, as far as a picture goes. */
  | "all";

/** The formats of pictures, which are also the extensions of their files. */
export const FORMATS = ["png", "svg", "pdf"] as const;
export type Format = (typeof FORMATS)[number];

/** The diagram from one height to another. */
export interface PicturePart {
  readonly top: number;
  readonly bottom: number;
}

/** What of the diagram a scope means; undefined if there is nothing of it. */
export function partOf(diagram: Diagram, scope: Scope): PicturePart | undefined {
  const scene = diagram.scene.value;
  const { axis, viewport } = diagram;
  const whole = contentHeight(scene, axis);
  if (whole <= 0) return undefined;
  if (scope === "all") return { top: 0, bottom: Math.min(whole, HEIGHT_MAX) };
  if (scope === "view") {
    return { top: viewport.offset, bottom: Math.min(whole, viewport.offset + viewport.view) };
  }
  const row = diagram.selected;
  if (row === undefined) return undefined;
  const { recording } = scene;
  const ys = [row, recording.partnerOf(row)].map((one) => yOfRow(scene, axis, one));
  const known = ys.filter((y) => y !== undefined);
  if (known.length === 0) return undefined;
  const around = axis.is === "order" ? LINE / 2 : MARGIN;
  const top = Math.max(0, Math.min(...known) - around);
  return { top, bottom: Math.min(whole, Math.max(...known) + around, top + HEIGHT_MAX) };
}

/** A picture of a part of the diagram. */
export async function pictureOf(
  diagram: Diagram,
  part: PicturePart,
  format: Format,
  title: string,
): Promise<Blob> {
  const geometry = geometryFor(diagram, part);
  if (format === "png") return pngOf(diagram, geometry, part.top);
  const measuring = contextOf(1, 1);
  const measure = (text: string, font: string): TextMetrics => {
    measuring.font = font;
    return measuring.measureText(text);
  };
  const sheet = new Sheet(measure, colorReader());
  diagram.drawOn(sheet, geometry, part.top);
  const { width, height } = geometry;
  const drawing = { width, height, title, shapes: sheet.shapes };
  if (format === "svg") return new Blob([svgOf(drawing)], { type: "image/svg+xml" });
  return new Blob([pdfOf(drawing)], { type: "application/pdf" });
}

/** Room for all columns that the part needs. */
function geometryFor(diagram: Diagram, { top, bottom }: PicturePart): Geometry {
  const scene = diagram.scene.value;
  const { start, end } = seenLines(scene, diagram.axis, top, bottom);
  const lanes = scene.placement.lanes(diagram.axis.is).neededIn(start, end - 1);
  const geometry = diagram.roomFor(lanes);
  return { ...geometry, height: Math.ceil(geometry.head + bottom - top) };
}

async function pngOf(diagram: Diagram, geometry: Geometry, top: number): Promise<Blob> {
  const { width, height } = geometry;
  const scale = Math.min(SHARPNESS, PIXELS_MAX / width, PIXELS_MAX / height);
  const context = contextOf(Math.floor(width * scale), Math.floor(height * scale));
  context.scale(scale, scale);
  diagram.drawOn(context, geometry, top);
  return new Promise((resolve, reject) => {
    context.canvas.toBlob((file) => {
      if (file === null) reject(new Error("the browser cannot make a picture of this size"));
      else resolve(file);
    }, "image/png");
  });
}

function contextOf(width: number, height: number): CanvasRenderingContext2D {
  const canvas = document.createElement("canvas");
  canvas.width = width;
  canvas.height = height;
  const context = canvas.getContext("2d", { willReadFrequently: width === 1 });
  if (context === null) throw new Error("this browser has no canvas");
  return context;
}

/** Gives colors of any notation as `#rrggbb`: other programs do not know all of them. */
function colorReader(): (color: string) => string {
  const context = contextOf(1, 1);
  const known = new Map<string, string>();
  return (color) => {
    const found = known.get(color);
    if (found !== undefined) return found;
    context.fillStyle = color;
    context.fillRect(0, 0, 1, 1);
    const [...parts] = context.getImageData(0, 0, 1, 1).data.subarray(0, 3);
    const hex = `#${parts.map((part) => part.toString(16).padStart(2, "0")).join("")}`;
    known.set(color, hex);
    return hex;
  };
}

/** The highest part of a diagram in a picture: a page of a PDF file cannot be higher. */
const HEIGHT_MAX = 14_000;
/** Pixels of a PNG file for each pixel of the page. */
const SHARPNESS = 2;
/** Browsers make no larger canvas. */
const PIXELS_MAX = 16_000;
