import type { JSX } from "preact";
import { useStore } from "../state/context";

/** The query that selects what is shown. */
export function QueryBar(): JSX.Element {
  const store = useStore();
  const problem = store.queryProblem.value;
  return (
    <input
      class={`query-input${problem === undefined ? "" : " wrong"}`}
      type="search"
      aria-label="Query"
      placeholder="member:Get* dur>50ms"
      value={store.query.value}
      onInput={(event) => store.setQuery(event.currentTarget.value)}
    />
  );
}
