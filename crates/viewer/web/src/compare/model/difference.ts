// How a message differs from its counterpart.

import { Kind, NONE, type Recording } from "../../model/recording";
import { duration } from "../../parts/format";
import type { Note } from "../../sequence/model/scene";
import type { Counterparts } from "./pairing";

/** What is different about a message. */
export type Difference =
  | { readonly is: "nothing" }
  /** It has no counterpart. */
  | { readonly is: "alone" }
  /** A call that took clearly longer than its counterpart, by so many nanoseconds. */
  | { readonly is: "slower"; readonly by: number }
  /** A call that got an error where its counterpart got a return. */
  | { readonly is: "failed" };

/**
 * How a message differs from its counterpart. What is different about a call is told of its reply
 * only if it is alone.
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

/** A difference in as few words as can be. */
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

/** A call is clearly slower if it took half as long again, and so many nanoseconds more. */
const SLOWER_RATIO = 1.5;
const SLOWER_MIN = 250_000;
