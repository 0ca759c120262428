// The sequence diagram: messages between peers, in order.

import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import { useKeys } from "../keys/useKeys";
import { useStore } from "../state/context";
import type { Interaction } from "./Interaction";
import { RowTable } from "./RowTable";
import { Stage } from "./Stage";
import { sequenceKeys } from "./sequenceKeys";
import { sequenceState } from "./state";
import { StoreSubject } from "./subject";
import { Toolbar } from "./Toolbar";

export function SequenceView(): JSX.Element {
  const store = useStore();
  const ready = useSignal<Interaction | undefined>(undefined);
  const subject = useMemo(() => new StoreSubject(store, sequenceState(store)), [store]);
  return (
    <div class="sequence">
      <Toolbar diagram={ready.value?.diagram} />
      <Stage
        subject={subject}
        label="Sequence diagram. j and k go from message to message, Enter from a call to its reply and back."
        onReady={(interaction) => {
          ready.value = interaction;
        }}
      />
      {ready.value === undefined ? null : <Around interaction={ready.value} />}
    </div>
  );
}

/** The keyboard functions of the diagram, and its description for screen readers. */
function Around({ interaction }: { readonly interaction: Interaction }): JSX.Element {
  const store = useStore();
  useKeys("Sequence", () => sequenceKeys(interaction, sequenceState(store), store));
  return <RowTable diagram={interaction.diagram} />;
}
