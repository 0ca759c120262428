// Deferred work for idle periods.

/**
 * Calls `act` when the browser is idle, but not before this delay. Returns a function that cancels
 * it.
 */
export function whenIdle(act: () => void, milliseconds: number): () => void {
  let idle: number | undefined;
  const timer = setTimeout(() => {
    // Not every browser reports idle periods.
    if (typeof requestIdleCallback === "undefined") act();
    else idle = requestIdleCallback(act);
  }, milliseconds);
  return () => {
    clearTimeout(timer);
    if (idle !== undefined) cancelIdleCallback(idle);
  };
}
