// The most important figures of the selected messages.

import type { Summary } from "../generated/protocol";
import { bytes, count, duration, rate, share } from "../parts/format";

/** A figure with its label. */
export interface Tile {
  readonly name: string;
  readonly value: string;
  /** A second, related figure. */
  readonly secondary: string;
  readonly kind: "plain" | "call" | "return" | "error" | "signal" | "bad";
}

/** The general figures, and those problem counts that are not zero. */
export function tiles(summary: Summary): Tile[] {
  const { messages, span_ns } = summary;
  const seconds = span_ns / 1e9;
  const perSecond = (amount: number): string => (seconds > 0 ? rate(amount / seconds) : "");
  const part = (amount: number): string => (messages > 0 ? share(amount / messages) : "");
  const tile = (name: string, kind: Tile["kind"], amount: number): Tile => {
    return { name, kind, value: count(amount), secondary: part(amount) };
  };
  const problems = PROBLEMS.filter(({ key }) => summary[key] > 0);
  return [
    { name: "messages", kind: "plain", value: count(messages), secondary: perSecond(messages) },
    tile("calls", "call", summary.calls),
    tile("returns", "return", summary.returns),
    tile("errors", "error", summary.errors),
    tile("signals", "signal", summary.signals),
    {
      name: "on the wire",
      kind: "plain",
      value: bytes(summary.bytes),
      secondary: seconds > 0 ? `${bytes(summary.bytes / seconds)}/s` : "",
    },
    { name: "duration", kind: "plain", value: duration(span_ns), secondary: "" },
    tile("to or from the bus", "plain", summary.driver_messages),
    ...problems.map(({ key, name }) => ({ ...tile(name, "bad", summary[key]), secondary: "" })),
  ];
}

const PROBLEMS: readonly { readonly key: keyof Summary; readonly name: string }[] = [
  { key: "caller_left", name: "caller left" },
  { key: "waiting", name: "waiting at the end" },
  { key: "time_outs", name: "timed out" },
  { key: "callee_left", name: "callee left" },
  { key: "unknown_outcome", name: "outcome unknown" },
  { key: "late", name: "replied late" },
  { key: "undelivered", name: "not delivered" },
  { key: "orphans", name: "replies without a call" },
  { key: "unknown_call", name: "call unknown" },
  { key: "cut", name: "cut" },
  { key: "redacted", name: "redacted" },
  { key: "invalid", name: "invalid" },
  { key: "unknown", name: "unknown type" },
];
