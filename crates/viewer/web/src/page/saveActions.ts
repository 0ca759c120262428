// Actions that save messages as a recording, or the page with its recording as a file.

import type { FileFormat } from "../generated/protocol";
import type { KeyBinding } from "../keys/keys";
import { action, type MenuItem } from "../parts/openMenu";
import type { Store } from "../state/store";
import { isEverything, saveMessages, selectedCall } from "./saveMessages";

/** The lines of the Save menu that are available now. */
export function saveItems(store: Store): readonly MenuItem[] {
  const selection = store.selection.peek();
  const scope = isEverything(selection) ? "all messages" : "the messages shown";
  return [
    { kind: "heading", label: "Messages, for Wireshark and diligence" },
    action(`Save ${scope} as pcapng`, () => saveShown(store, "pcapng"), "with names and phases"),
    action(`Save ${scope} as pcap`, () => saveShown(store, "pcap"), "messages only"),
    ...(store.selected.peek() === undefined
      ? []
      : [action(SAVE_CALL, () => saveSelected(store), "")]),
    ...(store.source.saves === undefined
      ? []
      : [
          { kind: "heading", label: "Page" } as const,
          action(SAVE_PAGE, () => savePage(store, "whole")),
          action(SAVE_REDACTED, () => savePage(store, "redacted")),
        ]),
  ];
}

/** The same actions for the command palette. */
export function saveBindings(store: Store): readonly KeyBinding[] {
  const isSelected = (): boolean => store.selected.peek() !== undefined;
  const hasPage = (): boolean => store.source.saves !== undefined;
  const words = "export download file";
  const binding = (about: string, run: () => void, when = (): boolean => true): KeyBinding => {
    return { keys: [], about, words, when, run };
  };
  return [
    binding("Save the messages shown as pcapng", () => saveShown(store, "pcapng")),
    binding("Save the messages shown as pcap", () => saveShown(store, "pcap")),
    binding(SAVE_CALL, () => saveSelected(store), isSelected),
    binding(SAVE_PAGE, () => savePage(store, "whole"), hasPage),
    binding(SAVE_REDACTED, () => savePage(store, "redacted"), hasPage),
  ];
}

function saveShown(store: Store, format: FileFormat): void {
  void reportProblem(store, saveMessages(store, format, store.selection.peek()));
}

function saveSelected(store: Store): void {
  const row = store.selected.peek();
  if (row !== undefined)
    void reportProblem(store, saveMessages(store, "pcapng", selectedCall(row)));
}

function savePage(store: Store, form: "whole" | "redacted"): void {
  const { saves } = store.source;
  if (saves !== undefined) location.assign(saves[form]);
}

/** Shows why saving failed, until the next attempt succeeds. */
async function reportProblem({ page }: Store, saving: Promise<void>): Promise<void> {
  try {
    await saving;
    page.saveProblem.value = "";
  } catch (error) {
    page.saveProblem.value = `Not saved: ${error instanceof Error ? error.message : String(error)}`;
  }
}

const SAVE_CALL = "Save the selected call as pcapng";
const SAVE_PAGE = "Save as a standalone HTML file";
const SAVE_REDACTED = "Save without message contents (redacted)";
