// What a diagram keeps when its messages change.

/** How many rows at the beginning are the same in both, if all of the first are; else none. */
export function keptOf(before: Uint32Array, after: Uint32Array): number {
  if (before === after) return before.length;
  if (before.length > after.length) return 0;
  for (let place = 0; place < before.length; place++) {
    if (before[place] !== after[place]) return 0;
  }
  return before.length;
}
