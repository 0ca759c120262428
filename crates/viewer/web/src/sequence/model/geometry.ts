// Horizontal positions of columns, and the sizes of the parts of the diagram.

/** Positions of the parts of the diagram, in pixels of the canvas. */
export interface Geometry {
  readonly width: number;
  readonly height: number;
  /** The height of the column names. */
  readonly head: number;
  /** Whether column names are rotated to fit. */
  readonly headStyle: "straight" | "turned";
  /** The width of the times. */
  readonly time: number;
  /** The left edge of the columns. The parts to the left of it do not scroll. */
  readonly left: number;
  /** Space for the arcs of the outer columns. */
  readonly margin: number;
  readonly gap: number;
  /** The number of lanes for columns. */
  readonly columns: number;
  /** The width of all columns, visible or not. */
  readonly content: number;
  readonly scrollX: number;
}

/** The available space and its constraints. */
export interface DiagramRoom {
  readonly width: number;
  readonly height: number;
  readonly columns: number;
  /** The number of lanes that should fit; by default all of them. */
  readonly usual?: number;
  readonly scrollX: number;
  /** The width that times need, and the longest name of a column. */
  readonly time?: number;
  readonly longest?: number;
  /** The width of message names, if the user has chosen it. */
  readonly text?: number | undefined;
}

/** Divides the available space. */
export function geometryOf(room: DiagramRoom): Geometry {
  const { width, height, columns, usual = columns, scrollX, text: chosen } = room;
  const sizes = sizesOf(width);
  const time = Math.max(sizes.time, Math.ceil(room.time ?? 0));
  const wide = clamp(Math.round(width * TEXT_SHARE), sizes.textMin, TEXT_MAX);
  const bounds = textBounds(width);
  const left = time + (chosen === undefined ? wide : clamp(chosen, bounds.least, bounds.most));
  const margin = clamp(Math.round((width - left) * MARGIN_SHARE), sizes.marginMin, MARGIN_MAX);
  const gapFor = (free: number): number =>
    clamp(Math.floor((free - left - 2 * margin) / Math.max(1, usual)), sizes.gapMin, GAP_MAX);
  const headStyle = gapFor(width) < STRAIGHT_MIN ? "turned" : "straight";
  const turned = turnedHead(room.longest ?? LONGEST, height);
  const over = headStyle === "turned" ? Math.round(turned * OVER) : 0;
  const gap = gapFor(width - over);
  return {
    width,
    height,
    head: headStyle === "turned" ? turned : HEAD_STRAIGHT,
    headStyle,
    time,
    left,
    margin,
    gap,
    columns,
    content: left + 2 * margin + columns * gap + over,
    scrollX,
  };
}

/** The height that rotated names need; the longest has `longest` pixels. */
function turnedHead(longest: number, height: number): number {
  const most = Math.max(HEAD_LEAST, Math.min(HEAD_MOST, height * HEAD_SHARE));
  return clamp(Math.ceil(longest * Math.sin(TURN)) + HEAD_AROUND, HEAD_LEAST, Math.round(most));
}

/** The width of a rotated name. */
export function turnedWidth({ head }: Geometry): number {
  return (head - HEAD_AROUND) / Math.sin(TURN);
}

/** The bounds of the width of message names, so that columns keep some space. */
export function textBounds(width: number): { readonly least: number; readonly most: number } {
  const { textMin } = sizesOf(width);
  return { least: TEXT_LEAST, most: Math.max(textMin, textAt(width, width * LEFT_MOST)) };
}

/** The width of message names that end at `left`, in a diagram of `width` pixels. */
export function textAt(width: number, left: number, time = sizesOf(width).time): number {
  return Math.round(left) - time;
}

function sizesOf(width: number): typeof LARGE {
  return width < NARROW ? SMALL : LARGE;
}

/** The horizontal position of a column's line. */
export function xOf(geometry: Geometry, column: number): number {
  return geometry.left + geometry.margin + (column + 0.5) * geometry.gap - geometry.scrollX;
}

/** The column nearest to a position; undefined if none is near. */
export function columnAt(geometry: Geometry, x: number): number | undefined {
  if (x < geometry.left) return undefined;
  const column = Math.floor(
    (x + geometry.scrollX - geometry.left - geometry.margin) / geometry.gap,
  );
  return column >= 0 && column < geometry.columns ? column : undefined;
}

/** The visible columns: the first, and the one after the last. */
export function columnsSeen(geometry: Geometry): { readonly start: number; readonly end: number } {
  const place = (x: number): number =>
    (x + geometry.scrollX - geometry.left - geometry.margin) / geometry.gap;
  const start = Math.max(0, Math.floor(place(geometry.left)));
  // Rotated names extend over the columns to their right.
  return {
    start: Math.max(0, start - 3),
    end: Math.min(geometry.columns, Math.ceil(place(geometry.width)) + 1),
  };
}

function clamp(number: number, least: number, most: number): number {
  return Math.min(Math.max(number, least), most);
}

/**
 * Width in pixels below which all parts are smaller, for two diagrams side by side or a small
 * screen.
 */
const NARROW = 720;
const LARGE = { time: 92, textMin: 170, marginMin: 44, gapMin: 42 };
const SMALL = { time: 88, textMin: 106, marginMin: 24, gapMin: 26 };
const MARGIN_SHARE = 0.2;
const MARGIN_MAX = 48;
const TEXT_SHARE = 0.32;
const TEXT_MAX = 620;
/** Minimum width of message names in pixels, and the part of the width that columns keep. */
const TEXT_LEAST = 60;
const LEFT_MOST = 0.75;
const GAP_MAX = 230;
/** Column names are not rotated if a column is at least this wide, in pixels. */
const STRAIGHT_MIN = 170;
const HEAD_STRAIGHT = 30;
/** Bounds of the height of rotated names: in pixels, and as a part of the whole height. */
const HEAD_LEAST = 72;
const HEAD_MOST = 156;
const HEAD_SHARE = 0.3;
/** Padding above and below rotated names, and the default length of a name, in pixels. */
const HEAD_AROUND = 26;
const LONGEST = 134;
/** The distance by which the last name exceeds its column, relative to the height of names. */
const OVER = 0.62;
/** The angle of rotated names, in radians. */
export const TURN = Math.PI / 5;
