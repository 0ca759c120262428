import { expect, test } from "vitest";
import type { Finding } from "../generated/protocol";
import {
  costHeadline,
  costWords,
  grouped,
  keyOf,
  matchesFilter,
  NO_FILTER,
  textOf,
  worst,
} from "./model";
import { NOTHING, POLLING } from "./testing";

const SLOW: Finding = { ...POLLING, rule: "L19", title: "slow methods", severity: "high" };
const ALSO_SLOW: Finding = { ...SLOW, who: { label: ":1.6", stable: "-" } };
const GAP: Finding = { ...POLLING, rule: "L50", title: "the recording is incomplete" };
const OTHER: Finding = { ...POLLING, who: { label: ":1.5", stable: "-" } };

test.each([
  [
    { ...NOTHING, waited_ns: 4.26e9, waits: 1, longest_wait_ns: 4.26e9 },
    ["4.26 s waited"],
    "4.26 s waited",
  ],
  [
    { ...NOTHING, waited_ns: 1879e9, waits: 129, longest_wait_ns: 22e9 },
    ["31 min 19 s waited, added up over 129 waits of at most 22.0 s"],
    "up to 22.0 s waited",
  ],
  [
    { ...NOTHING, waited_ns: 4e6, waits: 3 },
    ["4.00 ms waited, added up over 3 waits"],
    "4.00 ms waited",
  ],
  [
    { ...NOTHING, calls: 1, wake_ups: 1990, bytes: 1024 },
    ["1 call", "1,990 wake-ups", "1.00 KiB"],
    "1 call",
  ],
  [NOTHING, [], ""],
])("the cost %o is described as %o", (cost, expected, headline) => {
  expect(costWords(cost)).toEqual(expected);
  expect(costHeadline(cost)).toBe(headline);
});

test.each([
  [
    "severity",
    [
      ["Recording", [GAP]],
      ["High", [SLOW]],
      ["Medium", [POLLING, OTHER]],
    ],
  ],
  [
    "who",
    [
      ["demo-poller (:1.9)", [GAP, SLOW, POLLING]],
      [":1.5", [OTHER]],
    ],
  ],
  [
    "rule",
    [
      ["L50 the recording is incomplete", [GAP]],
      ["L19 slow methods", [SLOW]],
      ["L12 polling", [POLLING, OTHER]],
    ],
  ],
] as const)("findings are grouped by %s", (grouping, expected) => {
  const groups = grouped([GAP, SLOW, POLLING, OTHER], grouping);
  expect(groups.map(({ title, findings }) => [title, findings])).toEqual(expected);
});

test.each([
  [NO_FILTER, [POLLING, SLOW, OTHER]],
  [{ ...NO_FILTER, without: new Set(["high" as const]) }, [POLLING, OTHER]],
  [{ ...NO_FILTER, rule: "L19" }, [SLOW]],
  [{ ...NO_FILTER, who: ":1.5", rule: "L12" }, [OTHER]],
])("findings are filtered by %o", (filter, expected) => {
  expect([POLLING, SLOW, OTHER].filter((one) => matchesFilter(one, filter))).toEqual(expected);
});

test.each([
  [1, [SLOW]],
  [2, [SLOW, POLLING]],
  [3, [SLOW, ALSO_SLOW, POLLING]],
])("the worst %d findings have different rules and keep their order", (most, expected) => {
  const known: Finding = { ...GAP, severity: "info" };
  expect(worst([known, SLOW, ALSO_SLOW, POLLING, OTHER], most)).toEqual(expected);
});

test("a finding keeps its key when it grows", () => {
  const grown = { ...POLLING, says: "asks more often", evidence: { first: [1], count: 200 } };
  expect(keyOf(grown)).toBe(keyOf(POLLING));
  expect(new Set([POLLING, SLOW, OTHER].map(keyOf)).size).toBe(3);
});

test("a finding is written as text", () => {
  expect(textOf(POLLING)).toBe(
    [
      "L12 polling (med, confidence high)",
      "demo-poller (:1.9), demo-poller[7] calls GetAll of com.example.Battery every 200 ms, 99 times",
      "Costs 99 calls, 2.00 KiB.",
      "See 99 messages, first 68, 95, 117.",
      "Advice: Subscribe.",
      "Check: diligence stats FILE 'from:demo-poller member:GetAll'",
    ].join("\n"),
  );
});
