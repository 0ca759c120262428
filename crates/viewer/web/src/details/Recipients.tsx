// Who got a copy.

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
  /** Nanoseconds after which the bus queued the copies; null if that is not known. */
  readonly queued: number | null;
  /** The connections of its bus, by their unique names. */
  readonly peers: ReadonlyMap<string, Peer>;
}

/** The connections that got a copy, with the time after which each was written. */
export function Recipients({ deliveries, queued, peers }: RecipientsProps): JSX.Element {
  const store = useStore();
  const isWhole = useSignal(false);
  const told = isWhole.value ? deliveries : deliveries.slice(0, RECIPIENTS_FIRST);
  return (
    <>
      <dl class="facts recipients">
        {told.map(({ recipient, begun_after_ns, written_after_ns, rules }) => (
          <Fact
            key={recipient}
            name={oneLine(peers.get(recipient)?.label ?? recipient)}
            menu={() => filterItems(store, "name", recipient)}
          >
            <span title={pathOf(queued, begun_after_ns, written_after_ns)}>
              {writtenOf(begun_after_ns, written_after_ns)}
            </span>
            <span class="note" title="The match rules of its that have asked for it">
              {rules === 0 ? "addressed" : counted(rules, "rule", "rules")}
            </span>
          </Fact>
        ))}
      </dl>
      {told.length === deliveries.length ? null : (
        <button type="button" class="plain" onClick={() => (isWhole.value = true)}>
          All {deliveries.length}
        </button>
      )}
    </>
  );
}

/** When a copy was written; if that took the bus several writes, from when on. */
function writtenOf(begun: number | null, written: number | null): string {
  if (written === null) return begun === null ? "not written" : `${duration(begun)} to …`;
  if (begun === null || begun === written) return `after ${duration(written)}`;
  return `${duration(begun)} to ${duration(written)}`;
}

/** The way of a copy through the bus, in words. Times count from when the bus received the message. */
function pathOf(queued: number | null, begun: number | null, written: number | null): string {
  const after = (time: number | null): string =>
    time === null ? "not known" : `after ${duration(time)}`;
  return `Queued ${after(queued)}; first bytes written ${after(begun)}; last bytes written ${after(written)}`;
}

const RECIPIENTS_FIRST = 12;
