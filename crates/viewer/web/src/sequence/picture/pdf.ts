// Writes shapes as a page in PDF, with lines and texts. The font is Helvetica, which every viewer
// has; each text is stretched to the width that it has on the page.

import type { DrawnShape, Segment } from "./Sheet";
import { type Drawing, number } from "./svg";

/** The bytes of a PDF file with one page. */
export function pdfOf(drawing: Drawing): Uint8Array<ArrayBuffer> {
  const { width, height, title } = drawing;
  const alphas = new Set(drawing.shapes.map(({ alpha }) => number(alpha)));
  const content = contentOf(drawing);
  const fonts = Object.entries(FONTS).map(([name, object]) => `/${name} ${object} 0 R`);
  const states = [...alphas].map((alpha) => `/${stateOf(alpha)} << /ca ${alpha} /CA ${alpha} >>`);
  const resources = `<< /Font << ${fonts.join(" ")} >> /ExtGState << ${states.join(" ")} >> >>`;
  const box = `[0 0 ${number(width)} ${number(height)}]`;
  const font = (base: string): string =>
    `<< /Type /Font /Subtype /Type1 /BaseFont /${base} /Encoding /WinAnsiEncoding >>`;
  return fileOf([
    "<< /Type /Catalog /Pages 2 0 R >>",
    "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
    `<< /Type /Page /Parent 2 0 R /MediaBox ${box} /Resources ${resources} /Contents 4 0 R >>`,
    `<< /Length ${content.length} >>\nstream\n${content}\nendstream`,
    font("Helvetica"),
    font("Helvetica-Bold"),
    font("Helvetica-Oblique"),
    `<< /Title ${literal(title)} /Producer (Diligence) >>`,
  ]);
}

/** Object numbers of fonts, by their names on the page. */
const FONTS = { F1: 5, F2: 6, F3: 7 } as const;

/**
 * The file with numbered objects; the last object has the metadata. All characters have one byte.
 */
function fileOf(objects: readonly string[]): Uint8Array<ArrayBuffer> {
  let text = "%PDF-1.4\n%\xe2\xe3\xcf\xd3\n";
  const starts = objects.map((object, place) => {
    const start = text.length;
    text += `${place + 1} 0 obj\n${object}\nendobj\n`;
    return start;
  });
  const table = text.length;
  const rows = starts.map((start) => `${String(start).padStart(10, "0")} 00000 n \n`);
  text += `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${rows.join("")}`;
  text += `trailer\n<< /Size ${objects.length + 1} /Root 1 0 R /Info ${objects.length} 0 R >>\n`;
  text += `startxref\n${table}\n%%EOF\n`;
  return Uint8Array.from(text, (letter) => letter.charCodeAt(0));
}

/** The content of the page. The y axis of PDF points up, so the page is mirrored first. */
function contentOf({ height, shapes }: Drawing): string {
  const lines = [`1 0 0 -1 0 ${number(height)} cm`];
  for (const shape of shapes) {
    lines.push("q", `/${stateOf(number(shape.alpha))} gs`, ...clipOf(shape));
    lines.push(...painted(shape, colorOf(shape.color)), "Q");
  }
  return lines.join("\n");
}

/** Red, green and blue of `#rrggbb`, each from 0 to 1. */
function colorOf(color: string): string {
  const parts = [1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16) / 255);
  return parts.map((part) => String(Math.round(part * 1000) / 1000)).join(" ");
}

function clipOf({ clip }: DrawnShape): string[] {
  if (clip === undefined) return [];
  const { x, y, width, height } = clip;
  return [`${[x, y, width, height].map(number).join(" ")} re W n`];
}

function painted(shape: DrawnShape, color: string): string[] {
  switch (shape.is) {
    case "fill":
      return [`${color} rg`, pathOf(shape.path), "f"];
    case "stroke":
      return [
        `${color} RG ${number(shape.width)} w [${shape.dash.join(" ")}] 0 d`,
        pathOf(shape.path),
        "S",
      ];
    case "text":
      return textOf(shape, color);
  }
}

function pathOf(path: readonly Segment[]): string {
  const words = { M: "m", L: "l", C: "c", Z: "h" } as const;
  return path.map(([kind, ...points]) => [...points.map(number), words[kind]].join(" ")).join(" ");
}

function textOf(
  { font, matrix, text, width }: DrawnShape & { readonly is: "text" },
  color: string,
): string[] {
  const name = font.isBold ? "F2" : font.isItalic ? "F3" : "F1";
  const letters = winAnsi(text);
  const own = widthOf(letters, font.isBold ? BOLD : PLAIN) * font.size;
  const [a, b, c, d, x, y] = matrix;
  const turn = [a, b, -c, -d].map((part) => String(Math.round(part * 1e4) / 1e4));
  const stretch = own === 0 ? 100 : (width / own) * 100;
  return [
    "BT",
    `/${name} ${font.size} Tf ${number(stretch)} Tz ${color} rg`,
    `${turn.join(" ")} ${number(x)} ${number(y)} Tm`,
    `${literal(letters)} Tj`,
    "ET",
  ];
}

function stateOf(alpha: string): string {
  return `A${alpha.replace(".", "_")}`;
}

/** A PDF string in parentheses. */
function literal(text: string): string {
  return `(${winAnsi(text).replace(/[\\()]/g, (letter) => `\\${letter}`)})`;
}

/**
 * Encodes a text with one byte per character. Characters without an encoding become question marks.
 */
export function winAnsi(text: string): string {
  return Array.from(text, (letter) => {
    const known = LETTERS[letter];
    if (known !== undefined) return known;
    const code = letter.codePointAt(0) ?? 0;
    const isOwn = (code >= 0x20 && code < 0x7f) || (code >= 0xa0 && code <= 0xff) || code === 0x85;
    return isOwn ? letter : "?";
  }).join("");
}

const LETTERS: Readonly<Record<string, string>> = {
  "…": "\x85",
  "→": "->",
  "←": "<-",
  "↑": "^",
  "▸": ">",
  "▾": "v",
  "\u2009": " ",
  "\u202f": " ",
  "−": "-",
};

/** The width of a text at font size 1. */
function widthOf(text: string, widths: readonly number[]): number {
  let sum = 0;
  for (const letter of text) {
    sum += widths[letter.charCodeAt(0) - 0x20] ?? (letter === "\x85" ? DOTS : OTHER);
  }
  return sum / 1000;
}

const DOTS = 1000;
const OTHER = 560;

// The widths of the characters from space to ~, from Adobe's font metrics.
const PLAIN = [
  278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556, 556,
  556, 556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556, 1015, 667, 667, 722, 722, 667,
  611, 778, 722, 278, 500, 667, 556, 833, 722, 778, 667, 778, 722, 667, 611, 722, 667, 944, 667,
  667, 611, 278, 278, 278, 469, 556, 333, 556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500,
  222, 833, 556, 556, 556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584,
];
const BOLD = [
  278, 333, 474, 556, 556, 889, 722, 238, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556, 556,
  556, 556, 556, 556, 556, 556, 556, 333, 333, 584, 584, 584, 611, 975, 722, 722, 722, 722, 667,
  611, 778, 722, 278, 556, 722, 611, 833, 722, 778, 667, 778, 722, 667, 611, 722, 667, 944, 667,
  667, 611, 333, 278, 333, 584, 556, 333, 556, 611, 556, 611, 556, 333, 611, 611, 278, 278, 556,
  278, 889, 611, 611, 611, 611, 389, 556, 333, 611, 556, 778, 556, 556, 500, 389, 280, 389, 584,
];
