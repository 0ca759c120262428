// The data that a diagram keeps when its messages change.

/**
 * The number of leading rows that both lists share if `before` is a prefix of `after`; otherwise 0.
 */
export function keptOf(before: Uint32Array, after: Uint32Array): number {
  if (before === after) return before.length;
  if (before.length > after.length) return 0;
  for (let place = 0; place < before.length; place++) {
    if (before[place] !== after[place]) return 0;
  }
  return before.length;
}
