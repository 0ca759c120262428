// The query that selects the displayed messages.

import { type Signal, useSignal } from "@preact/signals";
import type { JSX, RefObject } from "preact";
import { useRef } from "preact/hooks";
import type { Completion } from "../generated/protocol";
import { useKeys } from "../keys/useKeys";
import { useStore } from "../state/context";
import type { Store } from "../state/store";
import { accept } from "./completion";
import { Offers, offerId } from "./Offers";
import { Problem } from "./Problem";
import { openQueries } from "./queriesMenu";
import { noteUsed } from "./queryHistory";
import { type Completing, useCompletion } from "./useCompletion";

export function QueryBar(): JSX.Element {
  const store = useStore();
  const input = useRef<HTMLInputElement>(null);
  const completing = useCompletion();
  useKeys("Filter", () => [
    { keys: ["/"], about: "Edit the filter", run: () => input.current?.select() },
  ]);
  const isWriting = useSignal(false);
  const isEmpty = store.draft.value === "";
  const problem = store.queryProblem.value;
  const shown = problem?.isUnfinished && isWriting.value ? undefined : problem;
  return (
    <div class="query" role="search">
      <QueryInput input={input} completing={completing} isWriting={isWriting} />
      {store.isBusy.value ? (
        <span class="query-busy" role="status" aria-label="Searching" title="Searching" />
      ) : null}
      <button
        type="button"
        class="plain query-clear"
        hidden={isEmpty}
        title="Show all"
        aria-label="Clear the filter"
        onClick={() => clear(store, input)}
      >
        ×
      </button>
      <button
        type="button"
        class="plain query-more"
        title="Recent and saved filters"
        aria-haspopup="menu"
        onClick={(event) => openQueries(event, store)}
      >
        ▾
      </button>
      <div class="query-below">
        <Offers
          offered={completing.offered.value}
          onTake={(offer) => take(store, input, completing, offer)}
        />
        <Problem query={store.draft.value} problem={shown} note={store.queryNote.value} />
      </div>
    </div>
  );
}

interface InputProps {
  readonly input: RefObject<HTMLInputElement | null>;
  readonly completing: Completing;
  /** True while the user types. An incomplete term is not reported as an error then. */
  readonly isWriting: Signal<boolean>;
}

function QueryInput({ input, completing, isWriting }: InputProps): JSX.Element {
  const store = useStore();
  const query = store.draft.value;
  const problem = store.queryProblem.value;
  const isWrong = problem !== undefined && !(problem.isUnfinished && isWriting.value);
  const offered = completing.offered.value;
  const state = query === "" || (problem && !isWrong) ? "" : isWrong ? " wrong" : " right";
  return (
    <input
      class={`query-input${state}`}
      ref={input}
      type="text"
      role="combobox"
      aria-label="Query"
      aria-expanded={offered !== undefined}
      aria-controls="query-offers"
      aria-autocomplete="list"
      aria-activedescendant={offered && offered.marked >= 0 ? offerId(offered.marked) : undefined}
      aria-invalid={isWrong}
      aria-describedby="query-problem"
      autocomplete="off"
      autocapitalize="off"
      spellcheck={false}
      placeholder="Filter: member:Get* dur>50ms, a word, or a match rule  ( / )"
      value={query}
      onInput={(event) => {
        isWriting.value = true;
        store.typeQuery(event.currentTarget.value);
        suggest(event.currentTarget, completing);
      }}
      onKeyDown={(event) => {
        if (event.key === "Enter") isWriting.value = false;
        steer(event, store, input, completing);
      }}
      onBlur={() => {
        isWriting.value = false;
        leave(store, completing);
      }}
    />
  );
}

function steer(
  event: KeyboardEvent,
  store: Store,
  input: RefObject<HTMLInputElement | null>,
  completing: Completing,
): void {
  const offered = completing.offered.peek();
  const marked = offered?.offers[offered.marked];
  const first = event.key === "Tab" && !event.shiftKey ? offered?.offers[0] : undefined;
  const chosen = marked ?? first;
  if (event.key === "ArrowDown" && offered !== undefined) completing.mark(1);
  else if (event.key === "ArrowUp" && offered !== undefined) completing.mark(-1);
  else if (event.key === "ArrowDown" && input.current !== null) suggest(input.current, completing);
  else if (event.key === "ArrowUp") openQueries(event, store);
  else if ((event.key === "Enter" || event.key === "Tab") && chosen !== undefined) {
    take(store, input, completing, chosen);
  } else if (event.key === "Enter") use(store, completing);
  else if (event.key === "Escape" && offered !== undefined) completing.close();
  else if (event.key === "Escape") input.current?.blur();
  else return;
  event.preventDefault();
}

function suggest(input: HTMLInputElement, completing: Completing): void {
  completing.suggest({ text: input.value, cursor: input.selectionStart ?? input.value.length });
}

/** Inserts a suggestion into the text, and requests suggestions for the value of a field. */
function take(
  store: Store,
  ref: RefObject<HTMLInputElement | null>,
  completing: Completing,
  offer: Completion,
): void {
  const input = ref.current;
  const offered = completing.offered.peek();
  if (input === null || offered === undefined) return;
  const { text, cursor } = accept(input.value, offered, offer);
  completing.close();
  input.value = text;
  input.setSelectionRange(cursor, cursor);
  store.typeQuery(text);
  suggest(input, completing);
}

function use(store: Store, completing: Completing): void {
  completing.close();
  store.setQuery(store.draft.peek());
  noteUsed(store.page, store.draft.peek());
}

function leave(store: Store, completing: Completing): void {
  completing.close();
  if (store.queryProblem.peek() === undefined) noteUsed(store.page, store.draft.peek());
}

function clear(store: Store, input: RefObject<HTMLInputElement | null>): void {
  store.setQuery("");
  input.current?.focus();
}
