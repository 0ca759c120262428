import { expect, test } from "vitest";
import type { FindingsAnswer } from "../generated/protocol";
import { numbered } from "./report";
import { POLLING } from "./testing";

test("message numbers include dropped messages", () => {
  const report: FindingsAnswer = {
    messages: 30,
    connections: 1,
    span_ns: 1,
    findings: [{ ...POLLING, evidence: { first: [1, 20], count: 2 } }],
    rules: [],
    known: 0,
    recorder_messages: 0,
  };
  expect(numbered(report, 1000).findings[0]?.evidence.first).toEqual([1001, 1020]);
});
