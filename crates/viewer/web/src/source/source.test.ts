import { expect, test } from "vitest";
import { answered, Moved, Refusal } from "./source";

test("an answer is given, and what is none is thrown", () => {
  const frame = (kind: string, head = {}) => ({
    kind,
    head: { kind, ...head },
    columns: new Map(),
  });
  expect(answered(frame("answer")).kind).toBe("answer");
  expect(() => answered(frame("refusal", { message: "no", column: 3 }))).toThrow(Refusal);
  expect(() => answered(frame("moved", { before: 100 }))).toThrow(Moved);
});
