import { expect, test } from "vitest";
import type { Finding, FindingsAnswer } from "../generated/protocol";
import { numbered } from "./report";

test("numbers of messages count those that are gone", () => {
  const finding = { evidence: { first: [1, 20], count: 2 } } as unknown as Finding;
  const report: FindingsAnswer = {
    messages: 30,
    connections: 1,
    span_ns: 1,
    findings: [finding],
    rules: [],
    known: 0,
    recorder_messages: 0,
  };
  expect(numbered(report, 1000).findings[0]?.evidence.first).toEqual([1001, 1020]);
});
