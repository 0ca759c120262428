// The Save button of the header.

import type { JSX } from "preact";
import { openMenu } from "../parts/openMenu";
import { useStore } from "../state/context";
import { saveItems } from "./saveActions";

/**
 * Opens the Save menu, and shows why the last attempt to save failed. A page that is itself a saved
 * file offers only messages.
 */
export function SaveButton(): JSX.Element {
  const store = useStore();
  const { saveProblem } = store.page;
  return (
    <>
      {saveProblem.value !== "" && (
        <span class="missing" role="alert" title={saveProblem.value}>
          {saveProblem.value}
        </span>
      )}
      <button
        type="button"
        class="plain"
        title="Save messages, or the page with the recording"
        aria-haspopup="menu"
        onClick={(event) => openMenu(store.page, event, saveItems(store))}
      >
        Save
      </button>
    </>
  );
}
