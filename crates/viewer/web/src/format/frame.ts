// Frames, as docs/view-format.md describes them: JSON, and columns of numbers behind it.

/** The version of the format that this page understands. */
export const VERSION = 2;

/** A frame that was taken apart. Its columns are views into the bytes that it came in. */
export interface Frame {
  readonly kind: string;
  readonly head: Readonly<Record<string, unknown>>;
  readonly columns: ReadonlyMap<string, Numbers>;
}

/**
 * Numbers of one type, one for each row. Those with a sign are packed: of 32 bits without one, of which
 * the upper ones are like the sign, as they become when they are put into an array of such.
 */
export type Numbers = Uint8Array | Uint32Array | Float64Array | Int8Array | Int16Array;

/** What is not a frame, or not one of this version. */
export class FrameError extends Error {}

interface ColumnHead {
  readonly name: string;
  readonly type: keyof typeof COLUMN_TYPES | "same";
  readonly length: number;
  /** What all are in a column of the type `same`. */
  readonly value?: number;
}

const COLUMN_TYPES = {
  u8: Uint8Array,
  u32: Uint32Array,
  f64: Float64Array,
  i8: Int8Array,
  i16: Int16Array,
};
const PREFIX_BYTES = 8;
const ALIGNMENT = 8;

/** Takes apart the frame that `bytes` are. They must begin at a multiple of 8 in their buffer. */
export function decode(bytes: Uint8Array): Frame {
  const jsonBytes = new DataView(bytes.buffer, bytes.byteOffset).getUint32(4, true);
  const text = new TextDecoder().decode(bytes.subarray(PREFIX_BYTES, PREFIX_BYTES + jsonBytes));
  const head = JSON.parse(text) as Record<string, unknown>;
  const columns = new Map<string, Numbers>();
  let at = bytes.byteOffset + PREFIX_BYTES + jsonBytes;
  for (const { name, type, length, value } of (head.columns ?? []) as ColumnHead[]) {
    if (type === "same") {
      columns.set(name, same(value ?? 0, length));
      continue;
    }
    const Type = COLUMN_TYPES[type];
    if (Type === undefined) throw new FrameError(`a column of the unknown type ${String(type)}`);
    columns.set(name, new Type(bytes.buffer as ArrayBuffer, at, length));
    at += Math.ceil((length * Type.BYTES_PER_ELEMENT) / ALIGNMENT) * ALIGNMENT;
  }
  return { kind: String(head.kind), head, columns };
}

/** A packed column in which all numbers are this one. */
function same(value: number, length: number): Numbers {
  const signed = value | 0;
  const Type = signed >= -128 && signed < 128 ? Int8Array : Uint32Array;
  return new Type(length).fill(value);
}

/** Cuts frames out of bytes that come in pieces. */
export class Framer {
  private readonly prefix = new Uint8Array(PREFIX_BYTES);
  private prefixLength = 0;
  private frame: Uint8Array | undefined;
  private frameLength = 0;

  /** Takes in the next piece, and gives the frames that are whole now. */
  push(piece: Uint8Array): Frame[] {
    const frames: Frame[] = [];
    for (let at = 0; at < piece.length; ) {
      at += this.frame === undefined ? this.takePrefix(piece, at) : this.takeFrame(piece, at);
      if (this.frame !== undefined && this.frameLength === this.frame.length) {
        frames.push(decode(this.frame));
        this.frame = undefined;
      }
    }
    return frames;
  }

  /** Whether a frame has begun and not ended. */
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
      throw new FrameError(`a frame of ${length} bytes`);
    }
    this.frame = new Uint8Array(length);
    this.frame.set(this.prefix);
    this.frameLength = PREFIX_BYTES;
    this.prefixLength = 0;
  }

  private takeFrame(piece: Uint8Array, at: number): number {
    const frame = this.frame as Uint8Array;
    const part = piece.subarray(at, at + frame.length - this.frameLength);
    frame.set(part, this.frameLength);
    this.frameLength += part.length;
    return part.length;
  }
}
