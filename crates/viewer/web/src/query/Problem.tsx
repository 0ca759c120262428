// Why the query is none.

import type { JSX } from "preact";
import type { QueryProblem } from "../state/store";
import { around, sentence } from "./wrongPlace";

interface ProblemProps {
  readonly query: string;
  readonly problem: QueryProblem | undefined;
}

export function Problem({ query, problem }: ProblemProps): JSX.Element {
  return (
    <div class="query-problem" id="query-problem" role="status" hidden={problem === undefined}>
      {problem?.column === undefined ? null : <Place query={query} column={problem.column} />}
      {problem === undefined ? null : <p>{sentence(problem.message)}</p>}
    </div>
  );
}

function Place({
  query,
  column,
}: {
  readonly query: string;
  readonly column: number;
}): JSX.Element {
  const { before, at, behind } = around(query, column);
  return (
    <code class="query-place">
      {before}
      <mark>{at}</mark>
      {behind}
    </code>
  );
}
