// Queries for the next time: those that were used last, and those that are kept.

import type { PageState } from "../state/page";

/** So many used queries are remembered. */
export const USED_MAX = 15;

/** Remembers that a query was used. */
export function noteUsed({ usedQueries }: PageState, query: string): void {
  usedQueries.value = withFirst(usedQueries.peek(), query.trim(), USED_MAX);
}

/** Keeps a query. */
export function save({ savedQueries }: PageState, query: string): void {
  savedQueries.value = withFirst(savedQueries.peek(), query.trim(), SAVED_MAX);
}

/** Keeps a query no longer. */
export function forget({ savedQueries }: PageState, query: string): void {
  savedQueries.value = savedQueries.peek().filter((other) => other !== query);
}

/** The texts with this one as the first, once, and no more than `max`. */
export function withFirst(texts: readonly string[], text: string, max: number): readonly string[] {
  if (text === "") return texts;
  return [text, ...texts.filter((other) => other !== text)].slice(0, max);
}

const SAVED_MAX = 100;
