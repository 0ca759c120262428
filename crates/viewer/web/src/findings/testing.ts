// A finding for unit tests.

import type { Cost, Finding } from "../generated/protocol";

/** A cost without any parts. */
export const NOTHING: Cost = {
  waited_ns: 0,
  waits: 0,
  longest_wait_ns: 0,
  calls: 0,
  wake_ups: 0,
  bytes: 0,
};

export const POLLING: Finding = {
  rule: "L12",
  title: "polling",
  severity: "med",
  confidence: "high",
  who: { label: "demo-poller (:1.9)", stable: "demo-poller", process: "demo-poller[7]" },
  subject: "com.example.Battery",
  says: "calls GetAll of com.example.Battery every 200 ms, 99 times",
  advice: "Subscribe.",
  cost: { ...NOTHING, calls: 99, bytes: 2048 },
  cost_ns: 3e6,
  evidence: { first: [68, 95, 117], count: 99 },
  query: "from:demo-poller member:GetAll",
  check: "diligence stats FILE 'from:demo-poller member:GetAll'",
};
