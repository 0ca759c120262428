// Frames as described in docs/view-format.md: a JSON head followed by columns of numbers.

import { type ColumnHead, type ColumnName, type FrameHead, VERSION } from "../generated/protocol";
import { checked, FormatError, isObject } from "./check";

/** A decoded frame. Its columns are views into the received bytes. */
export interface Frame<H extends FrameHead = FrameHead> {
  readonly head: H;
  readonly columns: FrameColumns;
}

/** True if a frame has this kind. */
export function isOf<K extends FrameHead["kind"]>(
  frame: Frame,
  kind: K,
): frame is Frame<HeadOf<K>> {
  return frame.head.kind === kind;
}

/** The head of a frame of one kind. */
export type HeadOf<K extends FrameHead["kind"]> = Extract<FrameHead, { readonly kind: K }>;

export type FrameColumns = ReadonlyMap<ColumnName, Numbers>;

/**
 * Numbers of one type, one for each row. Signed numbers are packed: an array of unsigned 32-bit
 * numbers sign-extends them when it copies them.
 */
export type Numbers = Uint8Array | Uint32Array | Float64Array | Int8Array | Int16Array;

const COLUMN_TYPES = {
  u8: Uint8Array,
  u32: Uint32Array,
  f64: Float64Array,
  i8: Int8Array,
  i16: Int16Array,
};
const PREFIX_BYTES = 8;
const ALIGNMENT = 8;

/** Decodes one complete frame. The bytes must begin at a multiple of 8 in their buffer. */
export function decode(bytes: Uint8Array<ArrayBuffer>): Frame {
  if (bytes.length < PREFIX_BYTES)
    throw new FormatError(`a frame of ${bytes.length} bytes is too short`);
  const jsonBytes = new DataView(bytes.buffer, bytes.byteOffset).getUint32(4, true);
  const start = PREFIX_BYTES + jsonBytes;
  if (start > bytes.length) throw new FormatError("the head extends beyond the end of its frame");
  const text = new TextDecoder().decode(bytes.subarray(PREFIX_BYTES, start));
  const json: unknown = JSON.parse(text);
  checkVersion(json);
  return { head: checked("FrameHead", json), columns: columnsOf(json, bytes, start) };
}

/** The head can have any shape in another version, so the version is checked first. */
function checkVersion(json: unknown): void {
  if (!isObject(json) || json.kind !== "hello" || json.version === VERSION) return;
  throw new FormatError(
    `the program uses version ${json.version} of the format, but this page version ${VERSION}: reload the page`,
  );
}

function columnsOf(json: unknown, bytes: Uint8Array<ArrayBuffer>, start: number): FrameColumns {
  const columns = new Map<ColumnName, Numbers>();
  const heads = isObject(json) ? json.columns : undefined;
  if (!Array.isArray(heads)) return columns;
  let at = start;
  for (const one of heads) {
    const head = checked("ColumnHead", one);
    if (head.type === "same") {
      columns.set(head.name, same(head));
      continue;
    }
    const Type = COLUMN_TYPES[head.type];
    const end = at + head.length * Type.BYTES_PER_ELEMENT;
    if (end > bytes.length)
      throw new FormatError(`the column ${head.name} extends beyond its frame`);
    columns.set(head.name, new Type(bytes.buffer, bytes.byteOffset + at, head.length));
    at = Math.ceil(end / ALIGNMENT) * ALIGNMENT;
  }
  return columns;
}

/** A packed column in which all numbers are equal. */
function same({ value = 0, length, name }: ColumnHead): Numbers {
  if (length > SAME_MAX)
    throw new FormatError(`the column ${name} has ${length} rows, more than ${SAME_MAX}`);
  const signed = value | 0;
  const Type = signed >= -128 && signed < 128 ? Int8Array : Uint32Array;
  return new Type(length).fill(value);
}

/** The maximum number of rows. A column without bytes could otherwise claim any length. */
const SAME_MAX = 1 << 28;

/** Splits a stream of bytes into frames. */
export class Framer {
  private readonly prefix = new Uint8Array(PREFIX_BYTES);
  private prefixLength = 0;
  private frame: Uint8Array<ArrayBuffer> | undefined;
  private frameLength = 0;

  /** Appends a chunk of the stream and returns the frames that are complete now. */
  push(piece: Uint8Array): Frame[] {
    const frames: Frame[] = [];
    for (let at = 0; at < piece.length; ) {
      const { frame } = this;
      at += frame === undefined ? this.takePrefix(piece, at) : this.takeFrame(frame, piece, at);
      if (this.frame !== undefined && this.frameLength === this.frame.length) {
        frames.push(decode(this.frame));
        this.frame = undefined;
      }
    }
    return frames;
  }

  /** True if the stream ended inside a frame. */
  get isInside(): boolean {
    return this.frame !== undefined || this.prefixLength > 0;
  }

  private takePrefix(piece: Uint8Array, at: number): number {
    const part = piece.subarray(at, at + PREFIX_BYTES - this.prefixLength);
    this.prefix.set(part, this.prefixLength);
    this.prefixLength += part.length;
    if (this.prefixLength === PREFIX_BYTES) this.begin();
    return part.length;
  }

  private begin(): void {
    const length = new DataView(this.prefix.buffer).getUint32(0, true);
    if (length < PREFIX_BYTES || length % ALIGNMENT !== 0) {
      throw new FormatError(`invalid frame length: ${length} bytes`);
    }
    this.frame = new Uint8Array(length);
    this.frame.set(this.prefix);
    this.frameLength = PREFIX_BYTES;
    this.prefixLength = 0;
  }

  private takeFrame(frame: Uint8Array, piece: Uint8Array, at: number): number {
    const part = piece.subarray(at, at + frame.length - this.frameLength);
    frame.set(part, this.frameLength);
    this.frameLength += part.length;
    return part.length;
  }
}
