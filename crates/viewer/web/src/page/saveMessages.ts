// Messages as a file that the browser downloads.

import type { FileFormat, Selection } from "../generated/protocol";
import { download } from "../parts/download";
import type { Store } from "../state/store";

/** Saves messages, with each call its reply, and with each reply its call. */
export async function saveMessages(
  store: Store,
  format: FileFormat,
  selection: Selection,
): Promise<void> {
  const { columns } = await store.ask({ ask: "save", format, ...selection });
  const file = columns.get("file");
  if (file === undefined) throw new Error("there is no file in the answer");
  const bytes = new Uint8Array(file);
  download(`messages.${format}`, new Blob([bytes], { type: "application/octet-stream" }));
}

/** Whether a selection excludes nothing. */
export function isEverything({ query = "", hidden = [], from, until }: Selection): boolean {
  return query.trim() === "" && hidden.length === 0 && from == null && until == null;
}

/** The message in a row, whatever else is shown. */
export function selectedCall(row: number): Selection {
  return { query: `#${row + 1}`, hidden: [] };
}
