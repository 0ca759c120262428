// Who talks to whom, message by message.

import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { useKeys } from "../keys/useKeys";
import { openedMenu } from "../parts/openMenu";
import { useStore } from "../state/context";
import { Diagram } from "./Diagram";
import { Interaction } from "./Interaction";
import { RowTable } from "./RowTable";
import { sequenceKeys } from "./sequenceKeys";
import { sequenceState } from "./state";
import { Tip } from "./Tip";
import { Toolbar } from "./Toolbar";

/** What there is once the elements are there. */
interface Parts {
  readonly diagram: Diagram;
  readonly interaction: Interaction;
}

export function SequenceView(): JSX.Element {
  const store = useStore();
  const parts = useSignal<Parts | undefined>(undefined);
  const canvas = useRef<HTMLCanvasElement>(null);
  const scroller = useRef<HTMLDivElement>(null);
  const spacer = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    if (canvas.current === null || scroller.current === null || spacer.current === null) return;
    const places = { canvas: canvas.current, scroller: scroller.current, spacer: spacer.current };
    const state = sequenceState(store);
    const diagram = new Diagram(places, store, state);
    const interaction = new Interaction(scroller.current, diagram, store, state);
    parts.value = { diagram, interaction };
    return () => {
      interaction.end();
      diagram.end();
    };
  }, [store, parts]);
  return (
    <div class="sequence">
      <Toolbar diagram={parts.value?.diagram} />
      <div class="sequence-stage">
        <div
          class="sequence-scroller"
          ref={scroller}
          tabIndex={0}
          role="application"
          aria-roledescription="sequence diagram"
          aria-label="Sequence diagram. j and k go from message to message, Enter from a call to its reply and back."
        >
          <div class="sequence-spacer" ref={spacer} />
        </div>
        <canvas class="sequence-canvas" ref={canvas} />
      </div>
      {parts.value === undefined ? null : <Around {...parts.value} />}
    </div>
  );
}

/** What is shown over the diagram, and told beside it. */
function Around({ diagram, interaction }: Parts): JSX.Element {
  const store = useStore();
  useKeys("Sequence", () => sequenceKeys(interaction, sequenceState(store), store));
  const isMenuOpen = openedMenu.value !== undefined;
  return (
    <>
      <RowTable diagram={diagram} />
      <Tip diagram={diagram} pointed={isMenuOpen ? undefined : interaction.rested.value} />
    </>
  );
}
