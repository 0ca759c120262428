// Long work in slices, between which the page draws and handles input.

/** Runs a step for each small range of `length` rows. Returns whether all steps were run. */
export async function inSlices(
  length: number,
  step: (from: number, to: number) => void,
  abort: AbortSignal,
  rows = ROWS,
): Promise<boolean> {
  let end = performance.now() + SLICE_MS;
  for (let from = 0; from < length; from += rows) {
    if (performance.now() > end) {
      await new Promise((resolve) => setTimeout(resolve));
      end = performance.now() + SLICE_MS;
    }
    if (abort.aborted) return false;
    step(from, Math.min(length, from + rows));
  }
  return !abort.aborted;
}

/** Half of a frame, in milliseconds. */
const SLICE_MS = 8;
const ROWS = 2048;
