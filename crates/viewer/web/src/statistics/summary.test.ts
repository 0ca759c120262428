import { expect, test } from "vitest";
import type { Summary } from "../generated/protocol";
import { tiles } from "./summary";

const SUMMARY: Summary = {
  messages: 200,
  bytes: 4096,
  span_ns: 2e9,
  calls: 50,
  returns: 40,
  errors: 10,
  signals: 100,
  unknown: 0,
  driver_messages: 20,
  unanswered: 0,
  caller_left: 0,
  waiting: 0,
  time_outs: 3,
  callee_left: 0,
  unknown_outcome: 0,
  unknown_call: 0,
  late: 0,
  undelivered: 0,
  orphans: 0,
  cut: 0,
  redacted: 0,
  invalid: 0,
  driver_calls: 0,
  calls_to_unknown: 0,
  headers_cut: 0,
  backward: 0,
};

test("problems have a tile only if they occurred", () => {
  const found = tiles(SUMMARY).map(
    ({ name, value, secondary }) => `${name}: ${value} ${secondary}`,
  );
  expect(found).toEqual([
    "messages: 200 100/s",
    "calls: 50 25 %",
    "returns: 40 20 %",
    "errors: 10 5 %",
    "signals: 100 50 %",
    "on the wire: 4.00 KiB 2.00 KiB/s",
    "duration: 2.00 s ",
    "to or from the bus: 20 10 %",
    "timed out: 3 ",
  ]);
});

test("an empty recording has no rate", () => {
  const nothing = { ...SUMMARY, messages: 0, span_ns: 0 };
  expect(tiles(nothing)[0]?.secondary).toBe("");
});
