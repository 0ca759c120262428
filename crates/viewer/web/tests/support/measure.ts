// Measures the time and memory that a page needs.

import type { Page } from "playwright-core";

/** The duration in milliseconds of the longest task during an action; 0 if none took 50 ms. */
export async function longestTask(page: Page, act: () => Promise<void>): Promise<number> {
  await page.evaluate(() => {
    const durations: number[] = [];
    const observer = new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) durations.push(Math.round(duration));
    });
    observer.observe({ type: "longtask" });
    Object.assign(window, { durations, observer });
  });
  await act();
  await page.waitForTimeout(500);
  return page.evaluate(() => {
    const { durations, observer } = window as unknown as {
      durations: number[];
      observer: PerformanceObserver;
    };
    observer.disconnect();
    return Math.max(0, ...durations);
  });
}

/** The number of bytes in objects and typed arrays of the page. */
export async function bytesHeld(page: Page): Promise<number> {
  const session = await page.context().newCDPSession(page);
  await session.send("HeapProfiler.collectGarbage");
  const { usedSize, backingStorageSize } = (await session.send("Runtime.getHeapUsage")) as {
    usedSize: number;
    backingStorageSize?: number;
  };
  return usedSize + (backingStorageSize ?? 0);
}
