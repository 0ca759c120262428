// Saves messages to a file that the browser downloads.

import type { FileFormat, Selection } from "../generated/protocol";
import { download } from "../parts/download";
import type { Store } from "../state/store";

/** Saves the selected messages. Each call is saved with its reply, and each reply with its call. */
export async function saveMessages(
  store: Store,
  format: FileFormat,
  selection: Selection,
): Promise<void> {
  const { columns } = await store.ask({ ask: "save", format, ...selection });
  const file = columns.get("file");
  if (file === undefined) throw new Error("the answer contains no file");
  const bytes = new Uint8Array(file);
  download(`messages.${format}`, new Blob([bytes], { type: "application/octet-stream" }));
}

/** True if a selection includes all messages. */
export function isEverything({ query = "", hidden = [], from, until }: Selection): boolean {
  return query.trim() === "" && hidden.length === 0 && from == null && until == null;
}

/** A selection of only the message in a row, regardless of filters. */
export function selectedCall(row: number): Selection {
  return { query: `#${row + 1}`, hidden: [] };
}
