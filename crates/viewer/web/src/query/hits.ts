// Movement from hit to hit of a search.

import type { Hits } from "../state/store";
import { lowerBound } from "../state/visible";

/**
 * The row of the next or previous hit relative to the selected message. After the last hit comes
 * the first.
 */
export function nextHit(
  hits: Pick<Hits, "rows"> | undefined,
  selected: number | undefined,
  step: 1 | -1,
): number | undefined {
  const rows = hits?.rows ?? new Uint32Array();
  if (selected === undefined) return rows.at(step === 1 ? 0 : -1);
  const place = lowerBound(rows, selected);
  const isHit = rows[place] === selected;
  const next = step === 1 ? place + Number(isHit) : place - 1;
  return rows.at(next >= rows.length ? 0 : next);
}

/** The position of a row among the hits, from 1; undefined if it is not a hit. */
export function placeOfHit(
  { rows }: Pick<Hits, "rows">,
  selected: number | undefined,
): number | undefined {
  if (selected === undefined) return undefined;
  const place = lowerBound(rows, selected);
  return rows[place] === selected ? place + 1 : undefined;
}
