// Who got a copy.

import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import type { Peer } from "../model/recording";
import { counted, duration } from "../parts/format";
import { oneLine } from "../parts/seen";
import { filterItems } from "../query/filterMenu";
import { useStore } from "../state/context";
import type { Delivery } from "./answer";
import { Fact } from "./Fact";

interface RecipientsProps {
  readonly deliveries: readonly Delivery[];
  /** The connections of its bus, by their unique names. */
  readonly peers: ReadonlyMap<string, Peer>;
}

/** The connections that got a copy, with the time after which each was written. */
export function Recipients({ deliveries, peers }: RecipientsProps): JSX.Element {
  const store = useStore();
  const isWhole = useSignal(false);
  const told = isWhole.value ? deliveries : deliveries.slice(0, RECIPIENTS_FIRST);
  return (
    <>
      <dl class="facts recipients">
        {told.map(({ recipient, written_after_ns, rules }) => (
          <Fact
            key={recipient}
            name={oneLine(peers.get(recipient)?.label ?? recipient)}
            menu={() => filterItems(store, "name", recipient)}
          >
            {written_after_ns === null ? "not written" : `after ${duration(written_after_ns)}`}
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

const RECIPIENTS_FIRST = 12;
