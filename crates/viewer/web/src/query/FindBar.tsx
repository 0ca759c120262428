// A search that moves from hit to hit and does not hide messages.

import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { registerKeys } from "../keys/keys";
import { useKeys } from "../keys/useKeys";
import { count } from "../parts/format";
import { useStore } from "../state/context";
import type { Store } from "../state/store";
import type { ViewName } from "../state/views";
import { sentence } from "./errorExcerpt";
import { nextHit, placeOfHit } from "./hits";

/** Views that show a hit when it is selected. */
const SEARCHED: readonly ViewName[] = ["sequence", "timeline"];

/** The search bar, if it is open. */
export function FindBar(): JSX.Element | null {
  const store = useStore();
  useKeys("Search", () => [
    {
      keys: ["Ctrl+F"],
      about: "Find messages without hiding the others",
      when: () => SEARCHED.includes(store.view.peek()),
      run: () => (store.page.isFindOpen.value = true),
    },
    { keys: ["F3"], about: "Next hit", when: hasHits(store), run: () => go(store, 1) },
    { keys: ["Shift+F3"], about: "Previous hit", when: hasHits(store), run: () => go(store, -1) },
  ]);
  return store.page.isFindOpen.value && SEARCHED.includes(store.view.value) ? <Bar /> : null;
}

function Bar(): JSX.Element {
  const store = useStore();
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => input.current?.select(), []);
  useEffect(() => listenForHitKeys(store), [store]);
  const close = (): void => {
    store.page.isFindOpen.value = false;
    void store.find("");
  };
  const press = (event: KeyboardEvent): void => {
    if (event.key === "Escape") close();
    else if (event.key === "Enter") void search(store, input.current?.value ?? "", event.shiftKey);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div class="find" role="search" aria-label="Find" onKeyDown={press}>
      <input
        ref={input}
        type="text"
        class="find-input"
        aria-label="Find messages"
        placeholder="Find: a word or a query"
        spellcheck={false}
      />
      <output class="find-hits">{wordsOf(store)}</output>
      <button
        type="button"
        class="plain"
        title="Previous hit (Shift+F3)"
        onClick={() => go(store, -1)}
      >
        ↑
      </button>
      <button type="button" class="plain" title="Next hit (F3)" onClick={() => go(store, 1)}>
        ↓
      </button>
      <button
        type="button"
        class="plain"
        title="Close (Esc)"
        aria-label="Close the search"
        onClick={close}
      >
        ×
      </button>
    </div>
  );
}

/** While there are hits, the keys n and N move to the next and the previous hit. */
function listenForHitKeys(store: Store): () => void {
  const when = hasHits(store);
  return registerKeys(store.page, "Search", [
    { keys: ["n"], about: "Next hit", when, run: () => go(store, 1) },
    { keys: ["Shift+N"], about: "Previous hit", when, run: () => go(store, -1) },
  ]);
}

/** Searches for the entered query, or moves to the next hit if the query has not changed. */
async function search(store: Store, query: string, isBackwards: boolean): Promise<void> {
  const { hits, recording } = { hits: store.hits.peek(), recording: store.recording.peek() };
  if (hits?.query !== query || hits.recording !== recording) await store.find(query);
  go(store, isBackwards ? -1 : 1);
}

function go(store: Store, step: 1 | -1): void {
  const row = nextHit(store.hits.peek(), store.selected.peek(), step);
  if (row !== undefined) store.selectMessage(row);
}

function hasHits(store: Store): () => boolean {
  return () => (store.hits.peek()?.rows.length ?? 0) > 0;
}

/** The position among the hits, such as `3 of 17`. */
function wordsOf(store: Store): string {
  const hits = store.hits.value;
  if (hits === undefined) return "";
  if (hits.problem !== undefined) return sentence(hits.problem);
  if (hits.rows.length === 0) return "no hits";
  const place = placeOfHit(hits, store.selected.value);
  const all = count(hits.rows.length);
  return place === undefined ? `${all} hits` : `${count(place)} of ${all}`;
}
