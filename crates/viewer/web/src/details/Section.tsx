// A section of the panel that can be collapsed.

import type { ComponentChildren, JSX } from "preact";
import { useStore } from "../state/context";

interface SectionProps {
  readonly title: string;
  /** Small text after the title. */
  readonly note?: string;
  readonly children: ComponentChildren;
}

export function Section({ title, note, children }: SectionProps): JSX.Element {
  const { foldedDetails: folded } = useStore().page;
  const isOpen = !folded.value.includes(title);
  const fold = (): void => {
    const others = folded.peek().filter((other) => other !== title);
    folded.value = isOpen ? [...others, title] : others;
  };
  return (
    <section class="details-section">
      <h3>
        <button type="button" class="section-fold" aria-expanded={isOpen} onClick={fold}>
          <span>{title}</span>
          {note === undefined ? null : <span class="section-note">{note}</span>}
        </button>
      </h3>
      {isOpen ? children : null}
    </section>
  );
}
