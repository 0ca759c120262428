// The history of queries: recent queries and saved queries.

import type { PageState } from "../state/page";

/** Maximum number of recent queries. */
export const USED_MAX = 15;

/** Adds a query to the recent queries. */
export function noteUsed({ usedQueries }: PageState, query: string): void {
  usedQueries.value = withFirst(usedQueries.peek(), query.trim(), USED_MAX);
}

/** Adds a query to the saved queries. */
export function save({ savedQueries }: PageState, query: string): void {
  savedQueries.value = withFirst(savedQueries.peek(), query.trim(), SAVED_MAX);
}

/** Removes a query from the saved queries. */
export function forget({ savedQueries }: PageState, query: string): void {
  savedQueries.value = savedQueries.peek().filter((other) => other !== query);
}

/** The texts with this one moved to the front, without duplicates, at most `max`. */
export function withFirst(texts: readonly string[], text: string, max: number): readonly string[] {
  if (text === "") return texts;
  return [text, ...texts.filter((other) => other !== text)].slice(0, max);
}

const SAVED_MAX = 100;
