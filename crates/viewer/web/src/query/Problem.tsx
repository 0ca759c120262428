// The error in the query, or the reason why it matches no message.

import type { JSX } from "preact";
import type { QueryProblem } from "../state/store";
import { sentence } from "./errorExcerpt";
import { MarkedPlace } from "./MarkedPlace";

interface ProblemProps {
  readonly query: string;
  readonly problem: QueryProblem | undefined;
  /** The reason why the query matches no message, if it matches none. */
  readonly note: string | undefined;
}

export function Problem({ query, problem, note }: ProblemProps): JSX.Element {
  const text = problem?.message ?? note;
  return (
    <div
      class={problem === undefined ? "query-problem note" : "query-problem"}
      id="query-problem"
      role="status"
      hidden={text === undefined}
    >
      {problem?.column === undefined ? null : <MarkedPlace text={query} column={problem.column} />}
      {text === undefined ? null : <p>{sentence(text)}</p>}
    </div>
  );
}
