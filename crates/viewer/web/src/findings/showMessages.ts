// From a finding to its messages.

import { batch } from "@preact/signals";
import type { Finding } from "../generated/protocol";
import type { Store } from "../state/store";

/** Filters by what a finding is about, and shows that in the sequence diagram. */
export function showMessages(store: Store, { evidence, query }: Finding): void {
  batch(() => {
    if (query !== "") store.setQuery(withReplies(query));
    const first = evidence.first[0];
    if (first !== undefined) store.selectNumber(first);
    store.view.value = "sequence";
  });
}

/**
 * The query that selects the replies of the calls too, so that the diagram shows how long they took. A reply
 * has the member and the duration of its call, but goes the other way.
 */
export function withReplies(query: string): string {
  const isOfCalls = /(^|\s)(member|dur)\b/.test(query) && !/(^|\s)(type|size)\b/.test(query);
  return isOfCalls ? query.replace(/(^|[\s(])(from|to):/g, "$1name:") : query;
}
