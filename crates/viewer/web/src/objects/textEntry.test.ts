import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { ReadText } from "../generated/protocol";
import { TextEntry } from "./textEntry";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A text entry, and the requests that it made. */
function entry() {
  const requests: { readonly text: string; readonly answer: (typed: ReadText) => void }[] = [];
  const ask = (_: string, text: string): Promise<ReadText> =>
    new Promise((answer) => requests.push({ text, answer }));
  return { entry: new TextEntry("s", ask), requests };
}

test("a text is parsed when typing pauses", async () => {
  const { entry: typed, requests } = entry();
  typed.type("'a");
  await vi.advanceTimersByTimeAsync(60);
  typed.type("'ab'");
  await vi.advanceTimersByTimeAsync(200);
  expect(requests.map(({ text }) => text)).toEqual(["'ab'"]);
  expect(typed.value).toEqual({ problem: "Still checking" });
  requests[0]?.answer({ arguments: ["ab"] });
  await typed.settle();
  expect(typed.value).toEqual({ value: ["ab"] });
  expect(requests.length).toBe(1);
});

test("an answer for an older text is ignored", async () => {
  const { entry: typed, requests } = entry();
  typed.type("'a'");
  const first = typed.settle();
  typed.type("'b'");
  requests[0]?.answer({ arguments: ["a"] });
  await first;
  expect(typed.read.value).toEqual({ state: "reading" });
  const second = typed.settle();
  requests[1]?.answer({ problem: { sentence: "expected a value", column: 4 } });
  await second;
  expect(typed.read.value).toEqual({ state: "wrong", sentence: "expected a value", column: 4 });
});
