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
    return this.numbers.subarray(from, to) as N;
  }

  append(more: N): void {
    const length = this.length + more.length;
    if (length > this.numbers.length) this.grow(length);
    this.numbers.set(more, this.length);
    this.length = length;
  }

  private grow(length: number): void {
    const grown = new this.Type(Math.max(length, Math.ceil(this.numbers.length * GROWTH)));
    grown.set(this.numbers.subarray(0, this.length));
    this.numbers = grown;
  }
}

const GROWTH = 1.5;
