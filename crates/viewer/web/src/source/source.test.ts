import { expect, test } from "vitest";
import type { FrameHead } from "../generated/protocol";
import { answered, Moved, Refusal } from "./source";

test("an answer is returned, and a missing answer throws", () => {
  const frame = (head: FrameHead) => ({ head, columns: new Map() });
  const ending = frame({ kind: "answer", answer: { ending: { incomplete: ["cut"] } } });
  expect(answered(ending, "ending").answer.incomplete).toEqual(["cut"]);
  expect(() => answered(ending, "summary")).toThrow("not an answer to the question summary");
  const refusal = frame({ kind: "refusal", message: "no", column: 3 });
  expect(() => answered(refusal, "ending")).toThrow(Refusal);
  expect(() => answered(frame({ kind: "moved", before: 100 }), "ending")).toThrow(Moved);
});
