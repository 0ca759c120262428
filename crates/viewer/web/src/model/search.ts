// Binary search in a sorted sequence.

/**
 * The first index below `length` for which `isBefore` is false, or `length`. `isBefore` must be
 * true for all smaller indices.
 */
export function partitionPoint(length: number, isBefore: (place: number) => boolean): number {
  let low = 0;
  let high = length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isBefore(middle)) low = middle + 1;
    else high = middle;
  }
  return low;
}
