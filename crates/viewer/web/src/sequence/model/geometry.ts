// Where columns are, from left to right, and how much room there is.

/** The places of things in pixels of the canvas. */
export interface Geometry {
  readonly width: number;
  readonly height: number;
  /** The height of the names of the columns. */
  readonly head: number;
  /** Whether the names of columns are turned to fit. */
  readonly headStyle: "straight" | "turned";
  /** The width of the times. */
  readonly time: number;
  /** Where the columns begin; what is left of it does not scroll. */
  readonly left: number;
  /** Room for the arcs of the outer columns. */
  readonly margin: number;
  readonly gap: number;
  /** The number of lanes in which columns stand. */
  readonly columns: number;
  /** The width of all, seen or not. */
  readonly content: number;
  readonly scrollX: number;
}

/** What is given of the room. */
export interface DiagramRoom {
  readonly width: number;
  readonly height: number;
  readonly columns: number;
  /** The number of lanes that should have room; all of them without. */
  readonly usual?: number;
  readonly scrollX: number;
  /** The width that times need, and the longest name of a column. */
  readonly time?: number;
  readonly longest?: number;
  /** The width of the names of messages, if somebody has chosen it. */
  readonly text?: number | undefined;
}

/** Divides the room. */
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

/** The height that turned names need, of so many pixels the longest. */
function turnedHead(longest: number, height: number): number {
  const most = Math.max(HEAD_LEAST, Math.min(HEAD_MOST, height * HEAD_SHARE));
  return clamp(Math.ceil(longest * Math.sin(TURN)) + HEAD_AROUND, HEAD_LEAST, Math.round(most));
}

/** The room for a turned name. */
export function turnedWidth({ head }: Geometry): number {
  return (head - HEAD_AROUND) / Math.sin(TURN);
}

/** How wide the names of messages may be made: columns keep some room. */
export function textBounds(width: number): { readonly least: number; readonly most: number } {
  const { textMin } = sizesOf(width);
  return { least: TEXT_LEAST, most: Math.max(textMin, textAt(width, width * LEFT_MOST)) };
}

/** The width of the names of messages, if of so many pixels in all they end at this one. */
export function textAt(width: number, left: number, time = sizesOf(width).time): number {
  return Math.round(left) - time;
}

function sizesOf(width: number): typeof LARGE {
  return width < NARROW ? SMALL : LARGE;
}

/** Where the line of a column is. */
export function xOf(geometry: Geometry, column: number): number {
  return geometry.left + geometry.margin + (column + 0.5) * geometry.gap - geometry.scrollX;
}

/** The column that is nearest to a place; undefined if none is near. */
export function columnAt(geometry: Geometry, x: number): number | undefined {
  if (x < geometry.left) return undefined;
  const column = Math.floor(
    (x + geometry.scrollX - geometry.left - geometry.margin) / geometry.gap,
  );
  return column >= 0 && column < geometry.columns ? column : undefined;
}

/** The columns that can be seen, the first and the one behind the last. */
export function columnsSeen(geometry: Geometry): { readonly start: number; readonly end: number } {
  const place = (x: number): number =>
    (x + geometry.scrollX - geometry.left - geometry.margin) / geometry.gap;
  const start = Math.max(0, Math.floor(place(geometry.left)));
  // Names that are turned reach over the columns to their right.
  return {
    start: Math.max(0, start - 3),
    end: Math.min(geometry.columns, Math.ceil(place(geometry.width)) + 1),
  };
}

function clamp(number: number, least: number, most: number): number {
  return Math.min(Math.max(number, least), most);
}

/** Pixels below which everything is smaller: two diagrams side by side, or a small screen. */
const NARROW = 720;
const LARGE = { time: 92, textMin: 170, marginMin: 44, gapMin: 42 };
const SMALL = { time: 88, textMin: 106, marginMin: 24, gapMin: 26 };
const MARGIN_SHARE = 0.2;
const MARGIN_MAX = 48;
const TEXT_SHARE = 0.32;
const TEXT_MAX = 620;
/** Bounds of what is chosen: pixels, and what of the whole may be left of the columns. */
const TEXT_LEAST = 60;
const LEFT_MOST = 0.75;
const GAP_MAX = 230;
/** Names are straight where there is room for this much of them. */
const STRAIGHT_MIN = 170;
const HEAD_STRAIGHT = 30;
/** Bounds of the height of turned names: pixels, and what part of the whole it may be. */
const HEAD_LEAST = 72;
const HEAD_MOST = 156;
const HEAD_SHARE = 0.3;
/** Pixels above and below turned names, and of a name of which the length is not known. */
const HEAD_AROUND = 26;
const LONGEST = 134;
/** How far the last name reaches over its column, in heights of the names. */
const OVER = 0.62;
/** By which names are turned. */
export const TURN = Math.PI / 5;
