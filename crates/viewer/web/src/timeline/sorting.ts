// Sorting in slices, so that it does not block other work.

/** Work that can be interrupted at each yield. */
export type PausableWork<T> = Generator<void, T, void>;

/** Runs work without interruption. */
export function finished<T>(work: PausableWork<T>): T {
  for (;;) {
    const { done, value } = work.next();
    if (done) return value;
  }
}

/** Number of loop steps between two yields. */
export const WORK_STEPS = 4096;

/** True if work should yield at this step of a loop. */
export function isPause(step: number): boolean {
  return (step & (WORK_STEPS - 1)) === WORK_STEPS - 1;
}

/**
 * The indices of keys in ascending order; equal keys keep their order. Keys that are nearly sorted,
 * as times mostly are, take little more time than one pass.
 */
export function* orderOf(keys: Float64Array): PausableWork<Uint32Array> {
  let order = Uint32Array.from(keys.keys());
  let other = new Uint32Array(keys.length);
  for (let length = 1; length < keys.length; length *= 2) {
    for (let low = 0; low < keys.length; low += 2 * length) {
      merge(keys, order, other, low, length);
      if (isPause(low / (2 * length)) || length > WORK_STEPS) yield;
    }
    [order, other] = [other, order];
  }
  return order;
}

/** Merges the sorted ranges that start at `low` and at `low + length`. */
function merge(
  keys: Float64Array,
  from: Uint32Array,
  to: Uint32Array,
  low: number,
  length: number,
): void {
  const middle = Math.min(low + length, keys.length);
  const high = Math.min(low + 2 * length, keys.length);
  const key = (place: number): number => keys[from[place] as number] as number;
  if (middle === high || key(middle - 1) <= key(middle)) {
    to.set(from.subarray(low, high), low);
    return;
  }
  let left = low;
  let right = middle;
  for (let place = low; place < high; place++) {
    const isLeft = right === high || (left < middle && key(left) <= key(right));
    to[place] = from[isLeft ? left++ : right++] as number;
  }
}
