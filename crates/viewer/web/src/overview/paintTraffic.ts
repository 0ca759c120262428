// Paints traffic as bars: displayed messages in the colors of their types, all others behind them.

import { Kind } from "../model/recording";
import type { Colors } from "../parts/colors";
import { count } from "../parts/format";
import type { CanvasSheet } from "../parts/useCanvas";
import type { Span } from "../state/store";
import { highest, KINDS, type Peak, peakOf, spread, ticks, totalOf } from "./traffic";
import type { Counted } from "./trafficCounts";

/** The data of the picture. */
export interface TrafficPicture {
  readonly counted: Counted;
  readonly whole: Span;
  /** The time of the selected message. */
  readonly playhead: number | undefined;
  /** The times of messages that the search has found. */
  readonly hits: readonly number[];
}

export function paintTraffic(
  sheet: CanvasSheet,
  { counted, whole, playhead, hits }: TrafficPicture,
): void {
  const { width, colors } = sheet;
  const columns = Math.max(1, Math.floor(width / BAR));
  const all = spread(counted.all, whole.from, whole.until, columns);
  const shown = spread(counted.shown, whole.from, whole.until, columns);
  const most = highest(all);
  paintAxis(sheet, whole);
  if (most > 0) {
    paintAll(sheet, all, most);
    for (const kind of STACK) paintKind(sheet, shown, kind, most);
    paintErrors(sheet, shown);
    paintPeak(sheet, peakOf(counted.all, whole));
  }
  paintHits(sheet, hits, whole);
  if (playhead !== undefined) paintPlayhead(sheet, playhead, whole, colors);
}

/** The label of a time on an axis. */
export function tickLabel(at: number, until: number): string {
  if (until >= 120e9) return clock(Math.round(at / 1e9));
  const [unit, length] = UNITS.find(([, length]) => until >= length) ?? ["ns", 1];
  return `${Number((at / length).toPrecision(6))} ${unit}`;
}

function clock(seconds: number): string {
  const two = (number: number): string => String(Math.floor(number)).padStart(2, "0");
  const hours = Math.floor(seconds / 3600);
  const minutes = (seconds / 60) % 60;
  return hours > 0
    ? `${hours}:${two(minutes)}:${two(seconds % 60)}`
    : `${Math.floor(minutes)}:${two(seconds % 60)}`;
}

function plotHeight({ height }: CanvasSheet): number {
  return height - AXIS - ABOVE;
}

/**
 * The height of a bar. Bursts are many times higher than other traffic, which would become
 * invisible next to them. So the height is the square root of the share. The types share the bar by
 * their numbers.
 */
function heightOf(sheet: CanvasSheet, messages: number, most: number): number {
  return Math.max(1, plotHeight(sheet) * Math.sqrt(messages / most));
}

function paintAll(sheet: CanvasSheet, all: Float64Array, most: number): void {
  const { context, height, colors } = sheet;
  context.fillStyle = colors.line;
  for (let column = 0; column < all.length / KINDS; column++) {
    const total = totalOf(all, column);
    if (total === 0) continue;
    const high = heightOf(sheet, total, most);
    context.fillRect(column * BAR, height - AXIS - high, BAR, high);
  }
}

/** Paints one type of message, on top of the types below it. */
function paintKind(sheet: CanvasSheet, shown: Float64Array, kind: Kind, most: number): void {
  const { context, height, colors } = sheet;
  context.fillStyle = colorOf(colors, kind);
  const below = STACK.slice(0, STACK.indexOf(kind));
  for (let column = 0; column < shown.length / KINDS; column++) {
    const at = column * KINDS;
    const messages = shown[at + kind] as number;
    if (messages === 0) continue;
    const total = totalOf(shown, column);
    const scale = heightOf(sheet, total, most) / total;
    let base = 0;
    for (const other of below) base += (shown[at + other] as number) * scale;
    context.fillRect(column * BAR, height - AXIS - base - messages * scale, BAR, messages * scale);
  }
}

/** Marks each position with errors below the bars, because errors are rare and important. */
function paintErrors({ context, height, colors }: CanvasSheet, shown: Float64Array): void {
  context.fillStyle = colors.error;
  for (let column = 0; column < shown.length / KINDS; column++) {
    if ((shown[column * KINDS + Kind.Error] as number) > 0) {
      context.fillRect(column * BAR - 0.5, height - AXIS, BAR + 1, MARK);
    }
  }
}

/** Marks each position with search hits above the bars. */
function paintHits(
  { context, width, colors }: CanvasSheet,
  hits: readonly number[],
  whole: Span,
): void {
  context.fillStyle = colors.accent;
  const scale = width / (whole.until - whole.from);
  let last = -1;
  for (const at of hits) {
    const x = Math.round((at - whole.from) * scale);
    if (x !== last) context.fillRect(x - 1, 0, 2, HIT);
    last = x;
  }
}

/** The rate of the busiest interval, and the length of that interval. */
export function peakLabel({ messages, interval }: Peak): string {
  return `up to ${count((messages * 1e9) / interval)}/s over ${tickLabel(interval, interval)}`;
}

function paintPeak({ context, colors }: CanvasSheet, peak: Peak): void {
  const text = peakLabel(peak);
  context.font = FONT;
  context.textBaseline = "top";
  context.textAlign = "left";
  context.fillStyle = colors.paper;
  context.globalAlpha = 0.75;
  context.fillRect(0, 1, context.measureText(text).width + 8, 13);
  context.globalAlpha = 1;
  context.fillStyle = colors.soft;
  context.fillText(text, 4, 2);
}

function paintAxis({ context, width, height, colors }: CanvasSheet, whole: Span): void {
  context.font = FONT;
  context.textBaseline = "bottom";
  context.textAlign = "left";
  const scale = width / (whole.until - whole.from);
  for (const at of ticks(whole.from, whole.until, width / TICK_ROOM)) {
    const x = Math.round((at - whole.from) * scale) + 0.5;
    context.fillStyle = colors.line;
    context.fillRect(x, height - AXIS, 1, AXIS);
    context.fillStyle = colors.faint;
    context.fillText(tickLabel(at, whole.until), x + 3, height);
  }
  context.fillStyle = colors.line;
  context.fillRect(0, height - AXIS, width, 1);
}

function paintPlayhead(
  { context, width, height }: CanvasSheet,
  at: number,
  whole: Span,
  colors: Colors,
): void {
  const x = Math.round(((at - whole.from) / (whole.until - whole.from)) * width);
  context.fillStyle = colors.ink;
  context.fillRect(x, 0, 1, height - AXIS);
  context.beginPath();
  context.moveTo(x - 4, 0);
  context.lineTo(x + 5, 0);
  context.lineTo(x + 0.5, 6);
  context.fill();
}

function colorOf(colors: Colors, kind: Kind): string {
  switch (kind) {
    case Kind.Call:
      return colors.call;
    case Kind.Return:
      return colors.return;
    case Kind.Error:
      return colors.error;
    case Kind.Signal:
      return colors.signal;
    case Kind.Unknown:
      return colors.faint;
  }
}

/** The order of types from bottom to top. */
const STACK: readonly Kind[] = [Kind.Signal, Kind.Call, Kind.Return, Kind.Error, Kind.Unknown];
const UNITS: readonly (readonly [string, number])[] = [
  ["s", 1e9],
  ["ms", 1e6],
  ["µs", 1e3],
];

/** Sizes in pixels: a bar, the space below and above bars, a mark, the distance of ticks. */
const BAR = 2;
const AXIS = 14;
const ABOVE = 4;
const MARK = 3;
const HIT = 5;
const TICK_ROOM = 110;
const FONT = '11px system-ui, "DejaVu Sans", sans-serif';
