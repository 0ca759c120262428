// Where a text is wrong, shown in a piece of it.

import type { JSX } from "preact";
import { around } from "./errorExcerpt";

interface MarkedPlaceProps {
  readonly text: string;
  /** The character that is wrong, from 1. */
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
