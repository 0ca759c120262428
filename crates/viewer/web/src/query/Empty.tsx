// Explains why no messages are displayed, and offers to remove conditions.

import type { JSX } from "preact";
import { count } from "../parts/format";
import { useAnswer } from "../state/answer";
import { useStore } from "../state/context";
import type { Store } from "../state/store";
import type { ViewName } from "../state/views";
import { sentence } from "./errorExcerpt";

/** Views whose messages depend on the selection. */
const CHOSEN: readonly ViewName[] = ["sequence", "statistics", "timeline"];

/** Covers a view without messages. It has buttons that remove a part of the selection. */
export function Empty(): JSX.Element | null {
  const store = useStore();
  const isEmpty = useIsEmpty(store);
  return isEmpty && CHOSEN.includes(store.view.value) ? <Explanation /> : null;
}

function useIsEmpty(store: Store): boolean {
  return store.total.value > 0 && store.shown.value.length === 0;
}

function Explanation(): JSX.Element {
  const store = useStore();
  const asked = useAnswer(() => ({ ask: "without" as const, ...store.selection.value }));
  const without = asked.value.answer;
  const clearQuery = (): void => store.setQuery("");
  const showServices = (): void => store.setHidden([]);
  const showTime = (): void => {
    store.span.value = undefined;
  };
  const showAll = (): void => {
    clearQuery();
    showServices();
    showTime();
  };
  const parts = [
    { title: "Clear the query", messages: without?.query, run: clearQuery },
    { title: "Show all services", messages: without?.hidden, run: showServices },
    { title: "Show the whole recording", messages: without?.time, run: showTime },
  ].filter(({ messages }) => typeof messages === "number");
  const note = store.queryNote.value;
  return (
    <section class="nothing" aria-label="No selection">
      <h2>No message is selected</h2>
      {note === undefined ? null : <p>{sentence(note)}</p>}
      <div class="nothing-parts">
        {parts.map(({ title, messages, run }) => (
          <button key={title} type="button" class="copy" onClick={run}>
            {title} <span class="nothing-count">{leads(messages ?? 0)}</span>
          </button>
        ))}
        {parts.length > 1 ? (
          <button type="button" class="copy" onClick={showAll}>
            Show everything
          </button>
        ) : null}
      </div>
    </section>
  );
}

function leads(messages: number): string {
  return messages === 0 ? "still no messages" : count(messages);
}
