// Numbers of one type that become more.

import type { Numbers } from "../format/frame";

type Constructor<N extends Numbers> = new (length: number) => N;

/** A typed array that grows at its end. */
export class GrowingColumn<N extends Numbers> {
  length = 0;
  private numbers: N;

  constructor(private readonly Type: Constructor<N>) {
    this.numbers = new Type(0);
  }

  /** The number in a row that there is. */
  get(row: number): number {
    return this.numbers[row] as number;
  }

  set(row: number, number: number): void {
    this.numbers[row] = number;
  }

  /** A view of some rows, until it grows. */
  slice(from: number, to: number): N {
    // A part of a typed array has its type; TypeScript knows this only for each type by itself.
    return this.numbers.subarray(from, to) as N;
  }

  /** Appends numbers, packed perhaps. */
  append(more: Numbers): void {
    const length = this.length + more.length;
    this.reserve(length);
    this.numbers.set(more, this.length);
    this.length = length;
  }

  /** Has room for so many in all, so that it need not move to where there is. */
  reserve(length: number): void {
    if (length <= this.numbers.length) return;
    const grown = new this.Type(Math.max(length, Math.ceil(this.numbers.length * GROWTH)));
    grown.set(this.numbers.subarray(0, this.length));
    this.numbers = grown;
  }
}

const GROWTH = 1.5;

/** Times in nanoseconds. Those that 32 bits cannot hold are few, and are kept beside. */
export class TimeColumn extends GrowingColumn<Uint32Array> {
  private readonly long = new Map<number, number>();

  constructor() {
    super(Uint32Array);
  }

  override get(row: number): number {
    const time = super.get(row);
    return time === LONG ? (this.long.get(row) ?? time) : time;
  }

  /** Sets a time that the column cannot hold. */
  setLong(row: number, time: number): void {
    this.long.set(row, time);
  }
}

/** Stands in a column for a time that is kept beside. */
const LONG = 0xfffffffe;
