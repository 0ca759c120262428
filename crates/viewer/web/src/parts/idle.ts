// What can wait.

/** Does something once the page has nothing to do, not before so many milliseconds; gives what prevents it. */
export function whenIdle(act: () => void, milliseconds: number): () => void {
  let idle: number | undefined;
  const timer = setTimeout(() => {
    // Not every browser says when it is idle.
    if (typeof requestIdleCallback === "undefined") act();
    else idle = requestIdleCallback(act);
  }, milliseconds);
  return () => {
    clearTimeout(timer);
    if (idle !== undefined) cancelIdleCallback(idle);
  };
}
