// A diagram on the page: its canvas, and the element that scrolls it.

import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { useStore } from "../state/context";
import { Diagram } from "./Diagram";
import { Interaction } from "./Interaction";
import type { Subject } from "./subject";
import { TextEdge } from "./TextEdge";
import { Tip } from "./Tip";

interface StageProps {
  readonly subject: Subject;
  /** Its description for screen readers. */
  readonly label: string;
  /**
   * Called with the interaction when its elements exist, and with undefined when they are removed.
   */
  readonly onReady: (interaction: Interaction | undefined) => void;
}

export function Stage({ subject, label, onReady }: StageProps): JSX.Element {
  const store = useStore();
  const ready = useSignal<Interaction | undefined>(undefined);
  const canvas = useRef<HTMLCanvasElement>(null);
  const scroller = useRef<HTMLDivElement>(null);
  const spacer = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    if (canvas.current === null || scroller.current === null || spacer.current === null) return;
    const places = { canvas: canvas.current, scroller: scroller.current, spacer: spacer.current };
    const diagram = new Diagram(places, subject);
    const interaction = new Interaction(scroller.current, diagram, store);
    ready.value = interaction;
    onReady(interaction);
    return () => {
      onReady(undefined);
      interaction.end();
      diagram.end();
    };
  }, [store, subject]);
  return (
    <div class="sequence-stage">
      <div
        class="sequence-scroller"
        ref={scroller}
        tabIndex={0}
        role="application"
        aria-roledescription="sequence diagram"
        aria-label={label}
      >
        <div class="sequence-spacer" ref={spacer} />
      </div>
      <canvas class="sequence-canvas" ref={canvas} />
      {ready.value === undefined ? null : <TextEdge diagram={ready.value.diagram} />}
      {ready.value === undefined ? null : <StageTip interaction={ready.value} />}
    </div>
  );
}

function StageTip({ interaction }: { readonly interaction: Interaction }): JSX.Element | null {
  const isMenuOpen = useStore().page.menu.value !== undefined;
  const pointed = isMenuOpen ? undefined : interaction.rested.value;
  return <Tip diagram={interaction.diagram} pointed={pointed} />;
}
