import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Follower, type GrowingWork } from "./follow";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Work of so many messages, and how often it was told to be done. */
function working(messages: number) {
  const work = {
    left: messages,
    get isBehind(): boolean {
      return this.left > 0;
    },
    advance(amount: number): void {
      this.left = Math.max(0, this.left - amount);
    },
  } satisfies GrowingWork & { left: number };
  let told = 0;
  const follower = new Follower(work, () => told++);
  return { work, follower, told: () => told };
}

test("much work is done in parts, and told once", () => {
  const { work, follower, told } = working(120_000);
  follower.wake();
  expect([work.left, told()]).toEqual([70_000, 0]);
  vi.advanceTimersByTime(10);
  expect([work.left, told()]).toEqual([0, 1]);
});

test("more work waits for the pause to end", () => {
  const { work, follower, told } = working(10);
  follower.wake();
  work.left = 5;
  follower.wake();
  expect([work.left, told()]).toEqual([5, 1]);
  vi.advanceTimersByTime(1000);
  expect([work.left, told()]).toEqual([0, 2]);
});

test("after silence work is done at once", () => {
  const { work, follower } = working(10);
  follower.wake();
  vi.advanceTimersByTime(5000);
  work.left = 5;
  follower.wake();
  expect(work.left).toBe(0);
});

test("nothing is done after the end", () => {
  const { work, follower } = working(120_000);
  follower.wake();
  follower.stop();
  vi.advanceTimersByTime(5000);
  expect(work.left).toBe(70_000);
});
