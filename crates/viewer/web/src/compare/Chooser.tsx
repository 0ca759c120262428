// Selects the recording for one side of a comparison.

import type { Signal } from "@preact/signals";
import type { JSX } from "preact";
import type { Side } from "./sides";

interface ChooserProps {
  readonly label: string;
  readonly sides: readonly Side[];
  readonly chosen: Signal<number>;
}

export function Chooser({ label, sides, chosen }: ChooserProps): JSX.Element {
  return (
    <label class="compare-chooser">
      <span>{label}</span>
      <select
        value={chosen.value}
        title={sides[chosen.value]?.name}
        onChange={(event) => {
          chosen.value = Number(event.currentTarget.value);
        }}
      >
        {sides.map(({ name }, place) => (
          <option key={place} value={place}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}
