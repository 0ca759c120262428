// Differences between a message and its counterpart.

import { Kind, NONE, type Recording } from "../../model/recording";
import { duration } from "../../parts/format";
import type { Note } from "../../sequence/model/scene";
import type { Counterparts } from "./pairing";

/** The difference of a message. */
export type Difference =
  | { readonly is: "nothing" }
  /** The message has no counterpart. */
  | { readonly is: "alone" }
  /** The call took significantly longer than its counterpart; `by` is in nanoseconds. */
  | { readonly is: "slower"; readonly by: number }
  /** The call failed, but its counterpart succeeded. */
  | { readonly is: "failed" };

/**
 * The difference of a message. A difference of a call is reported at the call, and at its reply
 * only if the reply has no counterpart.
 */
export function differenceOf(
  recording: Recording,
  counterparts: Counterparts,
  row: number,
): Difference {
  const kind = recording.kind.get(row);
  const counterpart = counterparts[row] ?? NONE;
  if (counterpart === NONE) return ALONE;
  if (kind !== Kind.Call) return NOTHING;
  if (isFailed(recording, row) && !isFailed(recording, counterpart)) return FAILED;
  const [took, other] = [recording.durationOf(row), recording.durationOf(counterpart)];
  if (took === undefined || other === undefined) return NOTHING;
  const by = took - other;
  return by >= SLOWER_MIN && took >= other * SLOWER_RATIO ? { is: "slower", by } : NOTHING;
}

/** A short note about a difference. */
export function noteOf(difference: Difference): Note | undefined {
  switch (difference.is) {
    case "nothing":
      return undefined;
    case "alone":
      return { text: "only here", tone: "plain" };
    case "slower":
      return { text: `+${duration(difference.by)}`, tone: "worse" };
    case "failed":
      return { text: "fails here", tone: "worse" };
  }
}

function isFailed(recording: Recording, call: number): boolean {
  const reply = recording.partnerOf(call);
  return reply !== NONE && recording.kind.get(reply) === Kind.Error;
}

const NOTHING: Difference = { is: "nothing" };
const ALONE: Difference = { is: "alone" };
const FAILED: Difference = { is: "failed" };

/**
 * A call counts as slower if its duration exceeds both this ratio and this difference in
 * nanoseconds.
 */
const SLOWER_RATIO = 1.5;
const SLOWER_MIN = 250_000;
