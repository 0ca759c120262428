import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Question } from "../generated/protocol";
import type { Answered } from "../source/source";
import { Selector } from "./selector";

interface PendingQuestion {
  readonly query: string;
  readonly abort: AbortSignal;
  readonly answer: (found: Answered<"select">) => void;
  readonly refuse: (error: Error) => void;
}

const FRAME: Answered<"select"> = {
  answer: { count: 0, total: 0, note: null, recorder: null },
  columns: new Map(),
};
const RECORDING = {};
const settled = (): Promise<unknown> => vi.advanceTimersByTimeAsync(0);

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A selector with its questions and its results. */
function selector() {
  const asked: PendingQuestion[] = [];
  const results: string[] = [];
  const ask = (question: Question, abort: AbortSignal): Promise<Answered<"select">> =>
    new Promise((answer, refuse) => {
      asked.push({ query: ("query" in question && question.query) || "", abort, answer, refuse });
    });
  const asks = new Selector(ask);
  const select = (query: string, of: object = RECORDING): void => {
    asks.select({ query, hidden: [], of }, (found) => {
      results.push(found instanceof Error ? `${query}: ${found.message}` : query);
    });
  };
  return { asked, results, select };
}

test("another query aborts the running question", async () => {
  const { asked, results, select } = selector();
  select("a");
  select("b");
  expect(asked.map(({ query, abort }) => [query, abort.aborted])).toEqual([
    ["a", true],
    ["b", false],
  ]);
  asked[0]?.answer(FRAME);
  asked[1]?.answer(FRAME);
  await settled();
  expect(results).toEqual(["b"]);
});

test("the same query for more messages is asked once after the answer", async () => {
  const { asked, results, select } = selector();
  for (let turn = 0; turn < 3; turn++) select("a");
  expect(asked.length).toBe(1);
  asked[0]?.answer(FRAME);
  await settled();
  expect([results, asked.length]).toEqual([["a"], 2]);
  asked[1]?.answer(FRAME);
  await settled();
  expect([results, asked.length]).toEqual([["a", "a"], 2]);
});

test("after a slow answer the same query waits, another one does not", async () => {
  const { asked, select } = selector();
  select("a");
  await vi.advanceTimersByTimeAsync(300);
  asked[0]?.answer(FRAME);
  await settled();
  select("a");
  await vi.advanceTimersByTimeAsync(250);
  expect(asked.length).toBe(1);
  await vi.advanceTimersByTimeAsync(100);
  expect(asked.length).toBe(2);
  asked[1]?.answer(FRAME);
  await settled();
  select("b");
  expect(asked.length).toBe(3);
});

test("rows of another recording are requested again", () => {
  const { asked, select } = selector();
  select("a");
  select("a", {});
  expect(asked.map(({ abort }) => abort.aborted)).toEqual([true, false]);
});

test("errors are reported", async () => {
  const { asked, results, select } = selector();
  select("a");
  asked[0]?.refuse(new Error("no"));
  await settled();
  expect(results).toEqual(["a: no"]);
});
