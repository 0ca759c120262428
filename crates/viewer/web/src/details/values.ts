// Values of messages, as people read them: no DOM.

import type { Value } from "../generated/protocol";

/** A value inside of another one, with its key or place. */
export interface Child {
  readonly label: string;
  readonly value: Value;
}

/** What a variant holds, however deep; any other value itself. */
export function unwrapped(value: Value): Value {
  let inner = value;
  while ("inside" in inner) inner = inner.inside;
  return inner;
}

/** The values inside. */
export function childrenOf(value: Value): readonly Child[] {
  const inner = unwrapped(value);
  if ("entries" in inner) {
    return inner.entries.map(([key, held]) => ({ label: keyText(key), value: held }));
  }
  if (!("items" in inner)) return [];
  return inner.items.map((item, place) => ({ label: String(place), value: item }));
}

/** How many values inside are not told. */
export function leftOut(value: Value): number {
  const inner = unwrapped(value);
  return "more" in inner ? (inner.more ?? 0) : 0;
}

/** Pages of a long list, from and to which place; none of a list that fits on one. */
export function pages(length: number, size: number): readonly { from: number; to: number }[] {
  if (length <= size) return [];
  return Array.from({ length: Math.ceil(length / size) }, (_, page) => ({
    from: page * size,
    to: Math.min(length, (page + 1) * size),
  }));
}

/** A value in one line: basic values in full, containers as far as there is room. */
export function inline(value: Value, room = INLINE_MAX): string {
  const inner = unwrapped(value);
  if ("text" in inner) return isText(inner.type) ? JSON.stringify(inner.text) : inner.text;
  if ("bytes" in inner) return `${inner.bytes.length / 2} bytes`;
  const isDictionary = "entries" in inner;
  const parts: string[] = [];
  let left = room;
  for (const { label, value: held } of childrenOf(inner)) {
    const text = inline(held, left);
    parts.push(isDictionary ? `${label}: ${text}` : text);
    left -= text.length + 2;
    if (left <= 0) break;
  }
  const all = childrenOf(inner).length + leftOut(inner);
  if (parts.length < all) parts.push("…");
  const [open, close] = isDictionary ? "{}" : inner.type.startsWith("(") ? "()" : "[]";
  return `${open}${parts.join(", ")}${close}`;
}

/** A value in full, for other programs: JSON with all digits of numbers. */
export function copied(value: Value): string {
  const inner = unwrapped(value);
  return "text" in inner ? inner.text : "bytes" in inner ? inner.bytes : json(inner);
}

function json(value: Value): string {
  const inner = unwrapped(value);
  if ("text" in inner) return isBare(inner.type) ? inner.text : JSON.stringify(inner.text);
  if ("bytes" in inner) return JSON.stringify(inner.bytes);
  const children = childrenOf(inner);
  const held = children.map(({ label, value: child }) =>
    "entries" in inner ? `${JSON.stringify(label)}: ${json(child)}` : json(child),
  );
  return "entries" in inner ? `{${held.join(", ")}}` : `[${held.join(", ")}]`;
}

/** The hexadecimal digits of a whole number, as wide as its type; undefined of any other value. */
export function hexadecimal(type: string, text: string): string | undefined {
  const bits = BITS[type];
  if (bits === undefined || !/^-?\d+$/.test(text)) return undefined;
  const number = BigInt.asUintN(bits, BigInt(text));
  return `0x${number.toString(16).padStart(bits / 4, "0")}`;
}

/** A line of a table of bytes. */
export interface HexRow {
  readonly offset: string;
  readonly hex: string;
  readonly text: string;
}

/** Bytes in hexadecimal and as text, side by side. */
export function hexRows(bytes: string, from: number, to: number): readonly HexRow[] {
  const rows: HexRow[] = [];
  for (let at = from; at < to; at += ROW_BYTES) {
    const pairs = bytes.slice(at * 2, Math.min(to, at + ROW_BYTES) * 2).match(/../g) ?? [];
    rows.push({
      offset: at.toString(16).padStart(4, "0"),
      hex: pairs.join(" "),
      text: pairs.map((pair) => printable(Number.parseInt(pair, 16))).join(""),
    });
  }
  return rows;
}

/** The text that bytes with a zero at the end are, as programs send names of files. */
export function bytesText(bytes: string): string | undefined {
  if (bytes.length > NAME_BYTES * 2) return undefined;
  const pairs: string[] = bytes.match(/../g) ?? [];
  if (pairs.length < 2 || pairs.at(-1) !== "00" || pairs.indexOf("00") < pairs.length - 1) {
    return undefined;
  }
  const numbers = Uint8Array.from(pairs.slice(0, -1), (pair) => Number.parseInt(pair, 16));
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(numbers);
  } catch {
    return undefined;
  }
}

function keyText(key: Value): string {
  return "text" in key ? key.text : inline(key);
}

function printable(byte: number): string {
  return byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : "·";
}

function isText(type: string): boolean {
  return "sog".includes(type);
}

/** Whether JSON has such values without quotes; not all floating-point numbers are in it. */
function isBare(type: string): boolean {
  return type === "b" || type in BITS;
}

const BITS: Readonly<Record<string, number>> = {
  y: 8,
  n: 16,
  q: 16,
  i: 32,
  u: 32,
  h: 32,
  x: 64,
  t: 64,
};

/** Bytes in a line of a table. */
export const ROW_BYTES = 8;

/** Longer no name of a file is. */
const NAME_BYTES = 4096;

/** Characters of a container in one line. */
const INLINE_MAX = 60;
