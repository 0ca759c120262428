// Navigation from a finding to its messages.

import { batch } from "@preact/signals";
import type { Finding } from "../generated/protocol";
import type { Store } from "../state/store";

/** Filters by the finding's query and shows the messages in the sequence diagram. */
export function showMessages(store: Store, { evidence, query }: Finding): void {
  batch(() => {
    if (query !== "") store.setQuery(withReplies(query));
    const first = evidence.first[0];
    if (first !== undefined) store.selectNumber(first);
    store.view.value = "sequence";
  });
}

/**
 * Extends a query to the replies of its calls, so that the diagram shows how long the calls took. A
 * reply has the member and the duration of its call, but the opposite direction.
 */
export function withReplies(query: string): string {
  const isOfCalls = /(^|\s)(member|dur)\b/.test(query) && !/(^|\s)(type|size)\b/.test(query);
  return isOfCalls ? query.replace(/(^|[\s(])(from|to):/g, "$1name:") : query;
}
