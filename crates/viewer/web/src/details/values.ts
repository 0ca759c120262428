// Values of messages, formatted for display. Independent of the DOM.

import type { Value } from "../generated/protocol";

/** A nested value with its key or index. */
export interface Child {
  readonly label: string;
  readonly value: Value;
}

/** The content of nested variants; any other value is returned unchanged. */
export function unwrapped(value: Value): Value {
  let inner = value;
  while ("inside" in inner) inner = inner.inside;
  return inner;
}

/** The values directly inside a value. */
export function childrenOf(value: Value): readonly Child[] {
  const inner = unwrapped(value);
  if ("entries" in inner) {
    return inner.entries.map(([key, held]) => ({ label: keyText(key), value: held }));
  }
  if (!("items" in inner)) return [];
  return inner.items.map((item, place) => ({ label: String(place), value: item }));
}

/** The number of nested values that the program left out. */
export function leftOut(value: Value): number {
  const inner = unwrapped(value);
  return "more" in inner ? (inner.more ?? 0) : 0;
}

/** The pages of a long list, as index ranges; empty if the list fits on one page. */
export function pages(length: number, size: number): readonly { from: number; to: number }[] {
  if (length <= size) return [];
  return Array.from({ length: Math.ceil(length / size) }, (_, page) => ({
    from: page * size,
    to: Math.min(length, (page + 1) * size),
  }));
}

/** A value in one line. Containers are cut to the available characters. */
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

/** A complete value for the clipboard, as JSON with all digits of numbers. */
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

/** The hexadecimal form of an integer with the width of its type; undefined for any other value. */
export function hexadecimal(type: string, text: string): string | undefined {
  const bits = BITS[type];
  if (bits === undefined || !/^-?\d+$/.test(text)) return undefined;
  const number = BigInt.asUintN(bits, BigInt(text));
  return `0x${number.toString(16).padStart(bits / 4, "0")}`;
}

/** A row of a hex dump. */
export interface HexRow {
  readonly offset: string;
  readonly hex: string;
  readonly text: string;
}

/** A hex dump of bytes, with their printable characters. */
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

/** Decodes a NUL-terminated byte array as text. Programs send file names in this form. */
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

/**
 * True if JSON represents the type without quotes. Floating-point numbers are not included because
 * JSON has no infinities.
 */
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

/** The number of bytes per row of a hex dump. */
export const ROW_BYTES = 8;

/** The maximum length of a file name in bytes. */
const NAME_BYTES = 4096;

/** The maximum number of characters of a container in one line. */
const INLINE_MAX = 60;
