// Columns of numbers that grow.

import type { Numbers } from "../format/frame";

type Constructor<N extends Numbers> = new (length: number) => N;

/** A typed array that can grow at its end. */
export class GrowingColumn<N extends Numbers> {
  length = 0;
  private numbers: N;

  constructor(private readonly Type: Constructor<N>) {
    this.numbers = new Type(0);
  }

  /** The number in a row, which must exist. */
  get(row: number): number {
    return this.numbers[row] as number;
  }

  set(row: number, number: number): void {
    this.numbers[row] = number;
  }

  /** A view of some rows. It is invalid after the column grows. */
  slice(from: number, to: number): N {
    // A subarray has the type of its array, but TypeScript knows that only for each concrete type.
    return this.numbers.subarray(from, to) as N;
  }

  /** Appends numbers, which can be packed. */
  append(more: Numbers): void {
    const length = this.length + more.length;
    this.reserve(length);
    this.numbers.set(more, this.length);
    this.length = length;
  }

  /** Allocates space for this number of rows in total, so that appending them copies nothing. */
  reserve(length: number): void {
    if (length <= this.numbers.length) return;
    const grown = new this.Type(Math.max(length, Math.ceil(this.numbers.length * GROWTH)));
    grown.set(this.numbers.subarray(0, this.length));
    this.numbers = grown;
  }
}

const GROWTH = 1.5;

/** A column of times in nanoseconds. The few that exceed 32 bits are stored in a map. */
export class TimeColumn extends GrowingColumn<Uint32Array> {
  private readonly long = new Map<number, number>();

  constructor() {
    super(Uint32Array);
  }

  override get(row: number): number {
    const time = super.get(row);
    return time === LONG ? (this.long.get(row) ?? time) : time;
  }

  /** Sets a time that exceeds 32 bits. */
  setLong(row: number, time: number): void {
    this.long.set(row, time);
  }
}

/** Marks a row whose time is stored in the map. */
const LONG = 0xfffffffe;
