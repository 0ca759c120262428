import { expect, test } from "vitest";
import {
  costWords,
  type Finding,
  grouped,
  isWanted,
  keyOf,
  NO_FILTER,
  textOf,
  worst,
} from "./model";

const POLLING: Finding = {
  rule: "L12",
  title: "polling",
  severity: "med",
  confidence: "high",
  who: { label: "demo-poller (:1.9)", stable: "demo-poller", process: "demo-poller[7]" },
  subject: "com.example.Battery",
  says: "asks com.example.Battery for GetAll every 200 ms, 99 times",
  advice: "Subscribe.",
  cost: { waited_ns: 0, calls: 99, wake_ups: 0, bytes: 2048 },
  cost_ns: 3e6,
  evidence: { first: [68, 95, 117], count: 99 },
  query: "from:demo-poller member:GetAll",
  check: "diligence stats FILE 'from:demo-poller member:GetAll'",
};
const SLOW: Finding = { ...POLLING, rule: "L19", title: "slow methods", severity: "high" };
const OTHER: Finding = { ...POLLING, who: { label: ":1.5", stable: "-" } };

test.each([
  [{ waited_ns: 4.26e9, calls: 0, wake_ups: 0, bytes: 0 }, ["4.26 s waited"]],
  [
    { waited_ns: 0, calls: 1, wake_ups: 1990, bytes: 1024 },
    ["1 call", "1,990 wake-ups", "1.00 KiB"],
  ],
  [{ waited_ns: 0, calls: 0, wake_ups: 0, bytes: 0 }, []],
])("%o costs %o", (cost, expected) => {
  expect(costWords(cost)).toEqual(expected);
});

test.each([
  [
    "severity",
    [
      ["High", [SLOW]],
      ["Medium", [POLLING, OTHER]],
    ],
  ],
  [
    "who",
    [
      ["demo-poller (:1.9)", [POLLING, SLOW]],
      [":1.5", [OTHER]],
    ],
  ],
  [
    "rule",
    [
      ["L12 polling", [POLLING, OTHER]],
      ["L19 slow methods", [SLOW]],
    ],
  ],
] as const)("grouped by %s", (grouping, expected) => {
  const groups = grouped([POLLING, SLOW, OTHER], grouping);
  expect(groups.map(({ title, findings }) => [title, findings])).toEqual(expected);
});

test.each([
  [NO_FILTER, [POLLING, SLOW, OTHER]],
  [{ ...NO_FILTER, without: new Set(["high" as const]) }, [POLLING, OTHER]],
  [{ ...NO_FILTER, rule: "L19" }, [SLOW]],
  [{ ...NO_FILTER, who: ":1.5", rule: "L12" }, [OTHER]],
])("with the filter %o", (filter, expected) => {
  expect([POLLING, SLOW, OTHER].filter((one) => isWanted(one, filter))).toEqual(expected);
});

test.each([
  [1, [POLLING]],
  [2, [POLLING, SLOW]],
  [3, [POLLING, SLOW, OTHER]],
])("the worst %d are of different rules", (most, expected) => {
  const known: Finding = { ...POLLING, rule: "L50", severity: "info" };
  expect(worst([known, POLLING, OTHER, SLOW], most)).toEqual(expected);
});

test("a finding is the same when it has grown", () => {
  const grown = { ...POLLING, says: "asks more often", evidence: { first: [1], count: 200 } };
  expect(keyOf(grown)).toBe(keyOf(POLLING));
  expect(new Set([POLLING, SLOW, OTHER].map(keyOf)).size).toBe(3);
});

test("a finding as text", () => {
  expect(textOf(POLLING)).toBe(
    [
      "L12 polling (med, confidence high)",
      "demo-poller (:1.9), demo-poller[7] asks com.example.Battery for GetAll every 200 ms, 99 times",
      "Costs 99 calls, 2.00 KiB.",
      "See 99 messages, first 68, 95, 117.",
      "What to do: Subscribe.",
      "Check: diligence stats FILE 'from:demo-poller member:GetAll'",
    ].join("\n"),
  );
});
