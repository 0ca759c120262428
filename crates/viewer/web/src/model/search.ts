// Binary search.

/** The first place below `length` where `isBefore` is false; it must be true for all places before that one. */
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
