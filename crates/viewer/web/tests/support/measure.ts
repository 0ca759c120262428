// What a page takes.

import type { Page } from "playwright-core";

/** Milliseconds of the longest task while something is done; 0 if none took 50. */
export async function longestTask(page: Page, act: () => Promise<void>): Promise<number> {
  await page.evaluate(() => {
    const seen: number[] = [];
    const observer = new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) seen.push(Math.round(duration));
    });
    observer.observe({ type: "longtask" });
    Object.assign(window, { seen, observer });
  });
  await act();
  await page.waitForTimeout(500);
  return page.evaluate(() => {
    const { seen, observer } = window as unknown as {
      seen: number[];
      observer: PerformanceObserver;
    };
    observer.disconnect();
    return Math.max(0, ...seen);
  });
}

/** Bytes of objects and of arrays of numbers that the page holds. */
export async function bytesHeld(page: Page): Promise<number> {
  const session = await page.context().newCDPSession(page);
  await session.send("HeapProfiler.collectGarbage");
  const { usedSize, backingStorageSize } = (await session.send("Runtime.getHeapUsage")) as {
    usedSize: number;
    backingStorageSize?: number;
  };
  return usedSize + (backingStorageSize ?? 0);
}
