// The recipients of a message.

import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import type { CopyEntry, Peer } from "../generated/protocol";
import { counted, duration } from "../parts/format";
import { oneLine } from "../parts/visibleText";
import { filterItems } from "../query/filterMenu";
import { useStore } from "../state/context";
import { Fact } from "./Fact";

interface RecipientsProps {
  readonly deliveries: readonly CopyEntry[];
  /** The time in nanoseconds after which the bus had queued the copies; null if it is unknown. */
  readonly queued: number | null;
  /** The connections on the bus, by unique name. */
  readonly peers: ReadonlyMap<string, Peer>;
}

/** The recipients of copies, and when each copy was written. */
export function Recipients({ deliveries, queued, peers }: RecipientsProps): JSX.Element {
  const store = useStore();
  const isWhole = useSignal(false);
  const visible = isWhole.value ? deliveries : deliveries.slice(0, RECIPIENTS_FIRST);
  return (
    <>
      <dl class="facts recipients">
        {visible.map(({ recipient, begun_after_ns, written_after_ns, rules }) => (
          <Fact
            key={recipient}
            name={oneLine(peers.get(recipient)?.label ?? recipient)}
            menu={() => filterItems(store, "name", recipient)}
          >
            <span title={pathOf(queued, begun_after_ns, written_after_ns)}>
              {writtenOf(begun_after_ns, written_after_ns)}
            </span>
            <span class="note" title="Match rules of this recipient that match the message">
              {rules === 0 ? "addressed" : counted(rules, "rule", "rules")}
            </span>
          </Fact>
        ))}
      </dl>
      {visible.length === deliveries.length ? null : (
        <button type="button" class="plain" onClick={() => (isWhole.value = true)}>
          Show all {deliveries.length}
        </button>
      )}
    </>
  );
}

/** When a copy was written: one time, or a range if the bus needed several writes. */
function writtenOf(begun: number | null, written: number | null): string {
  if (written === null) return begun === null ? "not written" : `${duration(begun)} to …`;
  if (begun === null || begun === written) return `after ${duration(written)}`;
  return `${duration(begun)} to ${duration(written)}`;
}

/**
 * The progress of a copy through the bus in words. Times begin when the bus received the message.
 */
function pathOf(queued: number | null, begun: number | null, written: number | null): string {
  const after = (time: number | null): string =>
    time === null ? "unknown" : `after ${duration(time)}`;
  return `Queued ${after(queued)}; first bytes written ${after(begun)}; last bytes written ${after(written)}`;
}

const RECIPIENTS_FIRST = 12;
