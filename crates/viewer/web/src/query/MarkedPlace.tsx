// Marks the position of an error in an excerpt of a text.

import type { JSX } from "preact";
import { around } from "./errorExcerpt";

interface MarkedPlaceProps {
  readonly text: string;
  /** The position of the error in characters, from 1. */
  readonly column: number;
}

export function MarkedPlace({ text, column }: MarkedPlaceProps): JSX.Element {
  const { before, at, behind } = around(text, column);
  return (
    <code class="query-place">
      {before}
      <mark>{at}</mark>
      {behind}
    </code>
  );
}
