// Parsing of typed values of basic types.

import type { BasicCode, Json } from "../generated/protocol";

/** A parsed value, or the reason why the text is invalid. */
export type Read<T = Json> = { readonly value: T } | { readonly problem: string };

/** Basic types that are entered as text. */
export type TextCode = Exclude<BasicCode, "b">;

/** Parses a text as a value of a basic type. */
export function readBasic(code: TextCode, text: string): Read {
  switch (code) {
    case "s":
      return readText(text);
    case "o":
      return PATH.test(text) ? { value: text } : { problem: PATH_PROBLEM };
    // The program validates signatures, because the page has no parser for them.
    case "g":
      return { value: text };
    case "d":
      return readDouble(text.trim());
    case "h":
      return { problem: "A page cannot send file descriptors" };
    default:
      return readWhole(code, text.trim());
  }
}

/** Parses bytes in hexadecimal, with or without spaces between them. */
export function readBytes(text: string): Read<number[]> {
  const digits = text.replace(/^\s*0x/i, "").replace(/[\s:,]/g, "");
  if (!/^[0-9a-f]*$/i.test(digits)) return { problem: "Only hexadecimal digits, such as 00 ff" };
  if (digits.length % 2 !== 0) return { problem: "Incomplete byte: each has two digits" };
  return { value: (digits.match(/../g) ?? []).map((pair) => Number.parseInt(pair, 16)) };
}

/** Formats bytes in hexadecimal, in the form that {@link readBytes} parses. */
export function bytesText(bytes: readonly number[]): string {
  return bytes.map((byte) => byte.toString(16).padStart(2, "0")).join(" ");
}

/** The smallest and largest value of an integer type; undefined for other types. */
export function rangeOf(code: BasicCode): readonly [low: bigint, high: bigint] | undefined {
  const width = WIDTHS[code];
  if (width === undefined) return undefined;
  const { bits, isSigned } = width;
  return isSigned
    ? [-(1n << BigInt(bits - 1)), (1n << BigInt(bits - 1)) - 1n]
    : [0n, (1n << BigInt(bits)) - 1n];
}

/** The placeholder of an empty input: the expected values. */
export function hintOf(code: BasicCode): string {
  const range = rangeOf(code);
  if (range !== undefined) return `${range[0]} to ${range[1]}`;
  return HINTS[code] ?? "";
}

function readWhole(code: BasicCode, text: string): Read {
  const range = rangeOf(code);
  const number = wholeNumber(text);
  if (range === undefined || number === undefined) {
    return { problem: text === "" ? "A number is missing" : "Not a whole number" };
  }
  const [low, high] = range;
  if (number < low || number > high) return { problem: `Must be from ${low} to ${high}` };
  // A JSON number holds at most 53 bits exactly, so 64-bit integers are sent as strings.
  return { value: "xt".includes(code) ? String(number) : Number(number) };
}

function wholeNumber(text: string): bigint | undefined {
  const [, sign, digits] = /^([+-]?)(\d+|0x[0-9a-f]+|0b[01]+|0o[0-7]+)$/i.exec(text) ?? [];
  if (digits === undefined || digits.length > DIGITS_MAX) return undefined;
  return sign === "-" ? -BigInt(digits) : BigInt(digits);
}

function readDouble(text: string): Read {
  const [, sign, word] = /^([+-]?)(nan|inf|infinity)$/i.exec(text) ?? [];
  if (word !== undefined && word.toLowerCase() === "nan") return { value: "NaN" };
  if (word !== undefined) return { value: sign === "-" ? "-Infinity" : "Infinity" };
  if (!/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text)) {
    return { problem: text === "" ? "A number is missing" : "Not a number" };
  }
  const number = Number(text);
  return Number.isFinite(number) ? { value: number } : { problem: "Out of range for a double" };
}

function readText(text: string): Read {
  if (text.includes("\0")) return { problem: "A D-Bus string cannot contain a NUL byte" };
  if (/\p{Cs}/u.test(text)) return { problem: "Contains an unpaired surrogate" };
  return { value: text };
}

const PATH = /^\/$|^(\/[A-Za-z0-9_]+)+$/;
const PATH_PROBLEM = "Not a valid object path, such as /org/example/Object_1";

const WIDTHS: Readonly<Record<string, { readonly bits: number; readonly isSigned: boolean }>> = {
  y: { bits: 8, isSigned: false },
  n: { bits: 16, isSigned: true },
  q: { bits: 16, isSigned: false },
  i: { bits: 32, isSigned: true },
  u: { bits: 32, isSigned: false },
  x: { bits: 64, isSigned: true },
  t: { bits: 64, isSigned: false },
};

const HINTS: Readonly<Record<string, string>> = {
  d: "a number, NaN or Infinity",
  s: "empty text",
  o: "/an/object",
  g: "a signature, such as a{sv}",
  h: "cannot be sent",
};

/** The maximum number of digits. It allows for leading zeros in every base. */
const DIGITS_MAX = 80;
