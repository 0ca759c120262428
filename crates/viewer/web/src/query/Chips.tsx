// Further conditions on the displayed messages. The user can remove each of them.

import type { JSX } from "preact";
import { duration, sinceStart } from "../parts/format";
import { useStore } from "../state/context";

export function Chips(): JSX.Element {
  const store = useStore();
  const hidden = store.hidden.value.size;
  const span = store.span.value;
  return (
    <div class="chips">
      {hidden === 0 ? null : (
        <Chip
          text={`${hidden} hidden`}
          about="Hidden services, with all their messages"
          onRemove={() => store.setHidden([])}
        />
      )}
      {span === undefined ? null : (
        <Chip
          text={`${duration(span.until - span.from)} from ${sinceStart(span.from)}`}
          about="The selected time range"
          onRemove={() => (store.span.value = undefined)}
        />
      )}
    </div>
  );
}

interface ChipProps {
  readonly text: string;
  readonly about: string;
  readonly onRemove: () => void;
}

function Chip({ text, about, onRemove }: ChipProps): JSX.Element {
  return (
    <span class="chip" title={about}>
      {text}
      <button type="button" aria-label={`Remove: ${text}`} onClick={onRemove}>
        ×
      </button>
    </span>
  );
}
