// Terms of the query language (docs/query.md), quoted where necessary.

import type { Store } from "../state/store";

/** Fields of the language with a text or a number. */
export type Field =
  | "type"
  | "from"
  | "to"
  | "name"
  | "path"
  | "interface"
  | "member"
  | "error"
  | "sig"
  | "arg"
  | `arg${number}`
  | "size"
  | "dur"
  | "time"
  | "number"
  | "serial"
  | "pid"
  | "comm"
  | "unit"
  | "bus"
  | "flags"
  | "is";

/** The term that selects the messages with exactly this value. */
export function term(field: Field, value: string | number): string {
  const text = String(value);
  // An input element with one line would drop such a character, or the character would rearrange
  // the text next to it.
  return UNSEEN.test(text) ? `${field}~/^${expression(text)}$/` : `${field}:${quoted(text)}`;
}

/** A value for a query: in quotes if it would have another meaning without them. */
export function quoted(value: string): string {
  return PLAIN.test(value) ? value : `"${value.replace(/["\\]/g, "\\$&")}"`;
}

/** Restricts the query to its messages that this term selects. */
export function addTerm(store: Store, text: string): void {
  store.setQuery(withTerm(rightQuery(store), text));
}

/** Restricts the query to its messages that this term does not select. */
export function addNotTerm(store: Store, text: string): void {
  store.setQuery(withTerm(rightQuery(store), `!${text}`));
}

/** Replaces the whole query. */
export function replaceQuery(store: Store, text: string): void {
  store.setQuery(text);
}

/**
 * The conjunction of a query and a term. The query is unchanged if it already ends with the term.
 */
export function withTerm(query: string, text: string): string {
  const before = query.trim();
  if (before === "" || before === text) return text;
  if (before.endsWith(` ${text}`)) return before;
  return hasAlternatives(before) ? `(${before}) ${text}` : `${before} ${text}`;
}

/** True if a query has alternatives outside of parentheses. */
export function hasAlternatives(query: string): boolean {
  let depth = 0;
  for (const [token] of query.matchAll(TOKENS)) {
    if (token === "(") depth++;
    else if (token === ")") depth--;
    else if (depth === 0 && (token === "||" || token.toLowerCase() === "or")) return true;
  }
  return false;
}

/** The entered query, or the last valid query if the entered one is invalid. */
function rightQuery(store: Store): string {
  const isWrong = store.queryProblem.peek() !== undefined;
  return isWrong ? store.query.peek() : store.draft.peek();
}

/** A regular expression for exactly this text, without spaces and parentheses. */
function expression(text: string): string {
  const escaped = [...text].map((character) =>
    /[\p{L}\p{N}_]/u.test(character)
      ? character
      : `\\x{${(character.codePointAt(0) ?? 0).toString(16)}}`,
  );
  return escaped.join("");
}

/** Texts that do not need quotes as a value. */
const PLAIN = /^[\p{L}\p{N}_./:@{}+-]+$/u;

/** Invisible characters, and characters that change the direction of writing. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;

/** The tokens of a query: quoted texts, parentheses, and words with everything in them. */
const TOKENS = /[^\s()"']*(?:"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')|[()]|[^\s()"']+/gs;
