// Writes shapes as an SVG picture.

import type { Box } from "../paint/pen";
import type { DrawnShape, Segment } from "./Sheet";

/** A drawing for a file. */
export interface Drawing {
  readonly width: number;
  readonly height: number;
  readonly title: string;
  readonly shapes: readonly DrawnShape[];
}

/** The text of an SVG file. */
export function svgOf({ width, height, title, shapes }: Drawing): string {
  const clips = new Clips();
  const parts = shapes.map((shape) => elementOf(shape, clips));
  const size = `width="${number(width)}" height="${number(height)}"`;
  const head = `<svg xmlns="http://www.w3.org/2000/svg" ${size} viewBox="0 0 ${number(width)} ${number(height)}">`;
  const about = `<title>${escaped(title)}</title>`;
  return [head, about, clips.defs(), ...parts, "</svg>", ""].join("\n");
}

/** A number with at most two decimal digits. */
export function number(value: number): string {
  return String(Math.round(value * 100) / 100);
}

/** Clips of the file. Each distinct clip is defined once. */
class Clips {
  private readonly ids = new Map<string, string>();

  attribute(clip: Box | undefined): string {
    if (clip === undefined) return "";
    const { x, y, width, height } = clip;
    const box = `x="${number(x)}" y="${number(y)}" width="${number(width)}" height="${number(height)}"`;
    const id = this.ids.get(box) ?? `clip${this.ids.size}`;
    this.ids.set(box, id);
    return ` clip-path="url(#${id})"`;
  }

  defs(): string {
    const all = [...this.ids].map(([box, id]) => `<clipPath id="${id}"><rect ${box}/></clipPath>`);
    return `<defs>${all.join("")}</defs>`;
  }
}

function elementOf(shape: DrawnShape, clips: Clips): string {
  const color = escaped(shape.color);
  const alpha = shape.alpha === 1 ? "" : ` opacity="${number(shape.alpha)}"`;
  const common = `${alpha}${clips.attribute(shape.clip)}`;
  switch (shape.is) {
    case "fill":
      return `<path d="${pathOf(shape.path)}" fill="${color}"${common}/>`;
    case "stroke": {
      const dash = shape.dash.length > 0 ? ` stroke-dasharray="${shape.dash.join(" ")}"` : "";
      const line = `fill="none" stroke="${color}" stroke-width="${number(shape.width)}"${dash}`;
      return `<path d="${pathOf(shape.path)}" ${line}${common}/>`;
    }
    case "text":
      return textOf(shape, color, alpha, clips);
  }
}

function textOf(
  { clip, font, matrix, text, width }: DrawnShape & { readonly is: "text" },
  color: string,
  alpha: string,
  clips: Clips,
): string {
  const [a, b, c, d, x, y] = matrix;
  const isTurned = b !== 0 || c !== 0;
  const turn = [a, b, c, d].map((part) => String(Math.round(part * 1e4) / 1e4)).join(" ");
  const place = isTurned
    ? `transform="matrix(${turn} ${number(x)} ${number(y)})"`
    : `x="${number(x)}" y="${number(y)}"`;
  const letters = `font-family="${escaped(font.family)}" font-size="${font.size}"`;
  const weight = font.isBold ? ' font-weight="600"' : "";
  const style = font.isItalic ? ' font-style="italic"' : "";
  const fit = `textLength="${number(width)}" lengthAdjust="spacingAndGlyphs"`;
  const element = `<text ${place} ${letters}${weight}${style} ${fit} fill="${color}"${alpha} xml:space="preserve">${escaped(text)}</text>`;
  // A clip on the element itself would be rotated with the text.
  return clip === undefined ? element : `<g${clips.attribute(clip)}>${element}</g>`;
}

/** The data of an SVG path. */
function pathOf(path: readonly Segment[]): string {
  return path.map(([kind, ...points]) => `${kind}${points.map(number).join(" ")}`).join("");
}

/** Escapes a text for XML. Characters that XML does not allow are removed. */
export function escaped(text: string): string {
  return text
    .replace(/[\uFFFE\uFFFF]/g, "")
    .replace(/\p{Cc}/gu, "")
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}
