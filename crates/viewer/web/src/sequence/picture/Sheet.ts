// A drawing as a list of shapes. The diagram paints on a sheet like on a canvas, and files are
// written from the shapes.

import type { Box, Brush, TextWidth } from "../paint/pen";

/** A part of a path. */
export type Segment =
  | readonly ["M" | "L", number, number]
  | readonly ["C", number, number, number, number, number, number]
  | readonly ["Z"];

/** The transformation of a canvas: x' = ax + cy + e, y' = bx + dy + f. */
export type Matrix = readonly [a: number, b: number, c: number, d: number, e: number, f: number];

interface Painted {
  /** The color in the form `#rrggbb`. */
  readonly color: string;
  readonly alpha: number;
  /** Only the part of the shape inside of this rectangle is visible. */
  readonly clip: Box | undefined;
}

/** A shape of the drawing. */
export type DrawnShape = Painted &
  (
    | { readonly is: "fill"; readonly path: readonly Segment[] }
    | {
        readonly is: "stroke";
        readonly path: readonly Segment[];
        readonly width: number;
        readonly dash: readonly number[];
      }
    /** A text that begins at a point of its baseline. */
    | {
        readonly is: "text";
        readonly text: string;
        readonly matrix: Matrix;
        readonly font: Font;
        readonly width: number;
      }
  );

/** The properties of a font. */
export interface Font {
  readonly size: number;
  readonly family: string;
  readonly isBold: boolean;
  readonly isItalic: boolean;
}

/** The state that a canvas saves and restores. */
interface State {
  fillStyle: Brush["fillStyle"];
  strokeStyle: Brush["strokeStyle"];
  lineWidth: number;
  globalAlpha: number;
  font: string;
  textAlign: CanvasTextAlign;
  textBaseline: CanvasTextBaseline;
  matrix: Matrix;
  clip: Box | undefined;
  dash: readonly number[];
}

/** Stores the shapes that are painted on it. */
export class Sheet implements Brush {
  readonly shapes: DrawnShape[] = [];
  fillStyle: Brush["fillStyle"] = "#000000";
  strokeStyle: Brush["strokeStyle"] = "#000000";
  lineWidth = 1;
  globalAlpha = 1;
  font = "10px sans-serif";
  textAlign: CanvasTextAlign = "start";
  textBaseline: CanvasTextBaseline = "alphabetic";
  private matrix: Matrix = [1, 0, 0, 1, 0, 0];
  private clipped: Box | undefined;
  private dash: readonly number[] = [];
  private path: Segment[] = [];
  private readonly saved: State[] = [];

  /** `colorOf` converts a color of a canvas to `#rrggbb`. */
  constructor(
    private readonly measure: (text: string, font: string) => TextWidth,
    private readonly colorOf: (color: string) => string = (color) => color,
  ) {}

  save(): void {
    const { fillStyle, strokeStyle, lineWidth, globalAlpha, font, textAlign, textBaseline } = this;
    const { matrix, clipped: clip, dash } = this;
    const state = { fillStyle, strokeStyle, lineWidth, globalAlpha, font, textAlign, textBaseline };
    this.saved.push({ ...state, matrix, clip, dash });
  }

  restore(): void {
    const state = this.saved.pop();
    if (state === undefined) return;
    const { clip, ...others } = state;
    Object.assign(this, others);
    this.clipped = clip;
  }

  translate(x: number, y: number): void {
    const [a, b, c, d, e, f] = this.matrix;
    this.matrix = [a, b, c, d, a * x + c * y + e, b * x + d * y + f];
  }

  rotate(angle: number): void {
    const [a, b, c, d, e, f] = this.matrix;
    const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
    this.matrix = [
      a * cos + c * sin,
      b * cos + d * sin,
      c * cos - a * sin,
      d * cos - b * sin,
      e,
      f,
    ];
  }

  setLineDash(dash: number[]): void {
    this.dash = [...dash];
  }

  beginPath(): void {
    this.path = [];
  }

  closePath(): void {
    this.path.push(["Z"]);
  }

  moveTo(x: number, y: number): void {
    this.path.push(["M", ...this.at(x, y)]);
  }

  lineTo(x: number, y: number): void {
    this.path.push([this.path.length === 0 ? "M" : "L", ...this.at(x, y)]);
  }

  bezierCurveTo(x1: number, y1: number, x2: number, y2: number, x: number, y: number): void {
    this.path.push(["C", ...this.at(x1, y1), ...this.at(x2, y2), ...this.at(x, y)]);
  }

  quadraticCurveTo(x1: number, y1: number, x: number, y: number): void {
    const [fromX, fromY] = this.last();
    const [midX, midY] = this.at(x1, y1);
    const [toX, toY] = this.at(x, y);
    const part = (end: number, middle: number): number => end + (2 / 3) * (middle - end);
    const first = [part(fromX, midX), part(fromY, midY)] as const;
    this.path.push(["C", ...first, part(toX, midX), part(toY, midY), toX, toY]);
  }

  /** Adds a complete circle. The diagram does not use other arcs. */
  arc(x: number, y: number, radius: number): void {
    const pull = radius * CIRCLE;
    this.moveTo(x + radius, y);
    this.bezierCurveTo(x + radius, y + pull, x + pull, y + radius, x, y + radius);
    this.bezierCurveTo(x - pull, y + radius, x - radius, y + pull, x - radius, y);
    this.bezierCurveTo(x - radius, y - pull, x - pull, y - radius, x, y - radius);
    this.bezierCurveTo(x + pull, y - radius, x + radius, y - pull, x + radius, y);
    this.closePath();
  }

  rect(x: number, y: number, width: number, height: number): void {
    this.moveTo(x, y);
    this.lineTo(x + width, y);
    this.lineTo(x + width, y + height);
    this.lineTo(x, y + height);
    this.closePath();
  }

  roundRect(x: number, y: number, width: number, height: number, radius = 0): void {
    const corner = Math.min(radius, width / 2, height / 2);
    const [right, bottom] = [x + width, y + height];
    this.moveTo(x + corner, y);
    this.lineTo(right - corner, y);
    this.quadraticCurveTo(right, y, right, y + corner);
    this.lineTo(right, bottom - corner);
    this.quadraticCurveTo(right, bottom, right - corner, bottom);
    this.lineTo(x + corner, bottom);
    this.quadraticCurveTo(x, bottom, x, bottom - corner);
    this.lineTo(x, y + corner);
    this.quadraticCurveTo(x, y, x + corner, y);
    this.closePath();
  }

  /** Clips to a rectangle. The diagram does not use other clips. */
  clip(): void {
    const points = this.path.flatMap((segment) => (segment.length === 3 ? [segment] : []));
    const xs = points.map(([, x]) => x);
    const ys = points.map(([, , y]) => y);
    const [x, y] = [Math.min(...xs), Math.min(...ys)];
    const box = { x, y, width: Math.max(...xs) - x, height: Math.max(...ys) - y };
    this.clipped = this.clipped === undefined ? box : common(this.clipped, box);
  }

  fill(): void {
    this.shapes.push({ is: "fill", path: this.path, ...this.painted(this.fillStyle) });
  }

  stroke(): void {
    const { dash, lineWidth: width, path } = this;
    this.shapes.push({ is: "stroke", path, width, dash, ...this.painted(this.strokeStyle) });
  }

  fillRect(x: number, y: number, width: number, height: number): void {
    this.whole(() => this.rect(x, y, width, height));
    this.fill();
  }

  strokeRect(x: number, y: number, width: number, height: number): void {
    this.whole(() => this.rect(x, y, width, height));
    this.stroke();
  }

  measureText(text: string): TextWidth {
    return this.measure(text, this.font);
  }

  fillText(text: string, x: number, y: number): void {
    if (text === "") return;
    const font = fontOf(this.font);
    const { width } = this.measureText(text);
    const left = this.textAlign === "right" ? x - width : x;
    const base = this.textBaseline === "middle" ? y + font.size * MIDDLE : y;
    const [a, b, c, d] = this.matrix;
    const matrix: Matrix = [a, b, c, d, ...this.at(left, base)];
    this.shapes.push({ is: "text", text, matrix, font, width, ...this.painted(this.fillStyle) });
  }

  private whole(draw: () => void): void {
    this.path = [];
    draw();
  }

  private painted(style: Brush["fillStyle"]): Painted {
    return { color: this.colorOf(String(style)), alpha: this.globalAlpha, clip: this.clipped };
  }

  private at(x: number, y: number): [number, number] {
    const [a, b, c, d, e, f] = this.matrix;
    return [a * x + c * y + e, b * x + d * y + f];
  }

  /** The current point of the path. */
  private last(): readonly [number, number] {
    const segment = this.path.at(-1);
    if (segment === undefined || segment.length === 1) return [0, 0];
    return segment.length === 3 ? [segment[1], segment[2]] : [segment[5], segment[6]];
  }
}

/** Parses the font of a canvas, such as `italic 600 12.5px sans-serif`. */
export function fontOf(text: string): Font {
  const [, style = "", size = "10", family = "sans-serif"] =
    /^(.*?)([\d.]+)px\s+(.*)$/.exec(text) ?? [];
  return {
    size: Number(size),
    family,
    isBold: /bold|[6-9]00/.test(style),
    isItalic: style.includes("italic"),
  };
}

function common(one: Box, other: Box): Box {
  const x = Math.max(one.x, other.x);
  const y = Math.max(one.y, other.y);
  const right = Math.min(one.x + one.width, other.x + other.width);
  const bottom = Math.min(one.y + one.height, other.y + other.height);
  return { x, y, width: Math.max(0, right - x), height: Math.max(0, bottom - y) };
}

/** The relative distance of control points with which four curves make a circle. */
const CIRCLE = 0.5523;
/** Distance of the baseline below the vertical center of letters, in font sizes. */
const MIDDLE = 0.35;
