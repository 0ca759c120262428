// Saves the diagram as a picture.

import type { Diagram } from "../Diagram";
import { contentHeight, LINE, MARGIN, seenLines, yOfRow } from "../model/axis";
import type { Geometry } from "../model/geometry";
import { pdfOf } from "./pdf";
import { Sheet } from "./Sheet";
import { svgOf } from "./svg";

/** The part of the diagram that a picture shows. */
export type Scope =
  /** The visible messages, with all of their columns. */
  | "view"
  /** The selected call, until its reply. */
  | "call"
  /** All displayed messages, up to the maximum height. */
  | "all";

/** The formats of pictures, which are also their file extensions. */
export const FORMATS = ["png", "svg", "pdf"] as const;
export type Format = (typeof FORMATS)[number];

/** A part of the diagram between two heights. */
export interface PicturePart {
  readonly top: number;
  readonly bottom: number;
}

/** The part of the diagram for a scope; undefined if it is empty. */
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

/** A geometry with space for all columns of the part. */
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

/**
 * Returns a function that converts colors in any notation to `#rrggbb`, which all programs support.
 */
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

/** Maximum height of a picture in pixels: a page of a PDF file cannot be higher. */
const HEIGHT_MAX = 14_000;
/** Pixels of a PNG file per pixel of the page. */
const SHARPNESS = 2;
/** Maximum width and height of a canvas in browsers, in pixels. */
const PIXELS_MAX = 16_000;
