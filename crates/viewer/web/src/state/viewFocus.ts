// What is looked at, carried over to a recording that begins later: rows, places of connections and times
// are others there.

import type { Recording } from "../model/recording";
import type { Span } from "./store";
import { addressName } from "./url";

/** What is looked at of a recording. */
export interface ViewFocus {
  readonly selected: number | undefined;
  readonly hidden: ReadonlySet<number>;
  readonly span: Span | undefined;
}

/** The same in `next`, as far as it has it, which is the end of what `last` was and perhaps more. */
export function movedTo(next: Recording, last: Recording, looked: ViewFocus): ViewFocus {
  // Of nothing there was no time, and nothing was looked at but what the address says.
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

/** The same stretch where times count from so much later; undefined if it is gone. */
export function movedSpan({ from, until }: Span, later: number): Span | undefined {
  return until <= later ? undefined : { from: Math.max(0, from - later), until: until - later };
}
