// Excerpts of a query with the position of an error.

/** An excerpt of a query: the text before the error, the error, and the text after it. */
export interface Wrong {
  readonly before: string;
  readonly at: string;
  readonly behind: string;
}

/** Number of characters on each side of the error. */
const SIDE = 40;

/** The excerpt of a query around a column, which counts characters from 1. */
export function around(query: string, column: number): Wrong {
  const characters = [...query.replace(/\s/gu, " ")];
  const place = Math.max(0, column - 1);
  const from = Math.max(0, place - SIDE);
  const to = place + 1 + SIDE;
  const before = characters.slice(from, place).join("");
  const behind = characters.slice(place + 1, to).join("");
  return {
    before: from > 0 ? `…${before}` : before,
    at: characters[place] ?? " ",
    behind: to < characters.length ? `${behind}…` : behind,
  };
}

/** The message without the column, because the page marks the position. */
export function sentence(message: string): string {
  const words = message
    .replace(/^column \d+: /, "")
    .replace(/[;:] did you mean /, ". Did you mean ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}
