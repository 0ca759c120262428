// Terms of the query language of docs/query.md, written so that they mean what they say.

import type { Store } from "../state/store";

/** Fields of the language that have a text or a number. */
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
  // In a box of one line such a character would be lost, or would move what stands beside it.
  return UNSEEN.test(text) ? `${field}~/^${expression(text)}$/` : `${field}:${quoted(text)}`;
}

/** A value as it stands in a query: in quotes if it would mean something else without. */
export function quoted(value: string): string {
  return PLAIN.test(value) ? value : `"${value.replace(/["\\]/g, "\\$&")}"`;
}

/** Has the query select only that of its messages which this term selects too. */
export function addTerm(store: Store, text: string): void {
  store.setQuery(withTerm(rightQuery(store), text));
}

/** Has the query select only that of its messages which this term does not select. */
export function addNotTerm(store: Store, text: string): void {
  store.setQuery(withTerm(rightQuery(store), `!${text}`));
}

/** Has this be the whole query. */
export function replaceQuery(store: Store, text: string): void {
  store.setQuery(text);
}

/** A query and a term that must both hold; the same query if it ends with the term already. */
export function withTerm(query: string, text: string): string {
  const before = query.trim();
  if (before === "" || before === text) return text;
  if (before.endsWith(` ${text}`)) return before;
  return hasAlternatives(before) ? `(${before}) ${text}` : `${before} ${text}`;
}

/** Whether alternatives stand in a query outside of parentheses. */
export function hasAlternatives(query: string): boolean {
  let depth = 0;
  for (const [token] of query.matchAll(TOKENS)) {
    if (token === "(") depth++;
    else if (token === ")") depth--;
    else if (depth === 0 && (token === "||" || token.toLowerCase() === "or")) return true;
  }
  return false;
}

/** What is written, unless it is wrong: then the last query that was right. */
function rightQuery(store: Store): string {
  const isWrong = store.queryProblem.peek() !== undefined;
  return isWrong ? store.query.peek() : store.draft.peek();
}

/** A regular expression for this text and no other, without blanks and parentheses. */
function expression(text: string): string {
  const escaped = [...text].map((character) =>
    /[\p{L}\p{N}_]/u.test(character)
      ? character
      : `\\x{${(character.codePointAt(0) ?? 0).toString(16)}}`,
  );
  return escaped.join("");
}

/** Texts that need no quotes wherever a value stands. */
const PLAIN = /^[\p{L}\p{N}_./:@{}+-]+$/u;

/** Characters that are not seen, or that change the direction of writing. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;

/** What alternatives are told from: texts in quotes, parentheses, and words with all that is in them. */
const TOKENS = /[^\s()"']*(?:"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')|[()]|[^\s()"']+/gs;
