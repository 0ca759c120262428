import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Follower, type GrowingWork } from "./follow";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Work of this many messages, and the number of completions. */
function followerOf(messages: number) {
  const work = {
    left: messages,
    get isBehind(): boolean {
      return this.left > 0;
    },
    advance(amount: number): void {
      this.left = Math.max(0, this.left - amount);
    },
  } satisfies GrowingWork & { left: number };
  let completions = 0;
  const follower = new Follower(work, () => completions++);
  return { work, follower, completions: () => completions };
}

test("much work is done in parts and reported once", () => {
  const { work, follower, completions } = followerOf(120_000);
  follower.wake();
  expect([work.left, completions()]).toEqual([70_000, 0]);
  vi.advanceTimersByTime(10);
  expect([work.left, completions()]).toEqual([0, 1]);
});

test("more work waits for the end of the pause", () => {
  const { work, follower, completions } = followerOf(10);
  follower.wake();
  work.left = 5;
  follower.wake();
  expect([work.left, completions()]).toEqual([5, 1]);
  vi.advanceTimersByTime(1000);
  expect([work.left, completions()]).toEqual([0, 2]);
});

test("work after a pause is done immediately", () => {
  const { work, follower } = followerOf(10);
  follower.wake();
  vi.advanceTimersByTime(5000);
  work.left = 5;
  follower.wake();
  expect(work.left).toBe(0);
});

test("stopped followers do no work", () => {
  const { work, follower } = followerOf(120_000);
  follower.wake();
  follower.stop();
  vi.advanceTimersByTime(5000);
  expect(work.left).toBe(70_000);
});
