import { expect, test } from "vitest";
import { inSlices } from "./slices";

test.each([0, 1, 2048, 2049, 100_000])("each of %d rows is visited once", async (length) => {
  let next = 0;
  const step = (from: number, to: number): void => {
    expect([from, to > from]).toEqual([next, true]);
    next = to;
  };
  expect(await inSlices(length, step, new AbortController().signal)).toBe(true);
  expect(next).toBe(length);
});

test("aborted work ends", async () => {
  const controller = new AbortController();
  let steps = 0;
  const step = (): void => {
    if (++steps === 2) controller.abort();
  };
  expect(await inSlices(100_000, step, controller.signal)).toBe(false);
  expect(steps).toBe(2);
});
