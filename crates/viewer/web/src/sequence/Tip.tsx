// A tooltip with the details of the object under the pointer.

import { Fragment, type JSX } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import type { Diagram } from "./Diagram";
import type { Pointed } from "./Interaction";
import { columnFacts, type Fact, messageFacts, runFacts } from "./model/describe";
import type { DiagramHit } from "./model/hit";
import { intoView } from "./place";

interface TipProps {
  readonly diagram: Diagram;
  readonly pointed: Pointed | undefined;
}

export function Tip({ diagram, pointed }: TipProps): JSX.Element | null {
  const tip = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    if (tip.current !== null && pointed !== undefined) {
      intoView(tip.current, pointed.x + BESIDE, pointed.y + BESIDE);
    }
  }, [pointed]);
  const facts = pointed === undefined ? [] : factsOf(diagram, pointed.hit);
  if (facts.length === 0) return null;
  return (
    <div class="sequence-tip" role="tooltip" ref={tip}>
      <dl>
        {facts.map(([name, value], place) => (
          <Fragment key={`${place} ${name}`}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </Fragment>
        ))}
      </dl>
    </div>
  );
}

function factsOf(diagram: Diagram, hit: DiagramHit): Fact[] {
  const { recording, columns } = diagram.scene.value;
  switch (hit.is) {
    case "nothing":
      return [];
    case "column": {
      const column = columns.all[hit.column];
      return column === undefined ? [] : columnFacts(recording, column);
    }
    case "run":
      return runFacts(diagram.scene.value, hit.row);
    case "end":
      return [...messageFacts(diagram.scene.value, hit.row), ["click", "to scroll there"]];
    case "message":
      return messageFacts(diagram.scene.value, hit.row);
  }
}

const BESIDE = 14;
