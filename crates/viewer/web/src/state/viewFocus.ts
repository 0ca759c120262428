// Transfers the selection and the time range to a recording that begins later, with other rows,
// connections and times.

import type { Recording } from "../model/recording";
import type { Span } from "./store";
import { addressName } from "./url";

/** The selection and the time range of a recording. */
export interface ViewFocus {
  readonly selected: number | undefined;
  readonly hidden: ReadonlySet<number>;
  readonly span: Span | undefined;
}

/**
 * The same selection in `next`, as far as it exists there. `next` begins within `last` and may
 * continue after it.
 */
export function movedTo(next: Recording, last: Recording, looked: ViewFocus): ViewFocus {
  // An empty recording had no times, and no selection except from the address.
  if (last.length === 0) return looked;
  const { selected, hidden, span } = looked;
  const gone = next.before - last.before;
  const later = Number(next.start - last.start);
  const names = new Set([...hidden].map((id) => addressName(last, id)));
  const known = next.peers.filter(({ id }) => names.has(addressName(next, id)));
  return {
    selected: selected === undefined || selected < gone ? undefined : selected - gone,
    hidden: new Set(known.map(({ id }) => id)),
    span: span && movedSpan(span, later),
  };
}

/** The same time range when times start `later` nanoseconds later; undefined if it is gone. */
export function movedSpan({ from, until }: Span, later: number): Span | undefined {
  return until <= later ? undefined : { from: Math.max(0, from - later), until: until - later };
}
