// Messages as a file that the browser downloads.

import { download } from "../parts/download";
import type { Selection } from "../source/source";
import type { Store } from "../state/store";

/** In which format messages are saved; also the extension of the file. */
export type RecordingFormat = "pcapng" | "pcap";

/** Saves messages, with each call its reply, and with each reply its call. */
export async function saveMessages(
  store: Store,
  format: RecordingFormat,
  selection: Selection,
): Promise<void> {
  const { columns } = await store.ask({ ask: "save", format, ...selection });
  const file = columns.get("file");
  if (file === undefined) throw new Error("there is no file in the answer");
  const bytes = file as Uint8Array<ArrayBuffer>;
  download(`messages.${format}`, new Blob([bytes], { type: "application/octet-stream" }));
}

/** Whether all messages are meant, as nobody has asked for less. */
export function isEverything({ query, hidden, from, until }: Selection): boolean {
  return query.trim() === "" && hidden.length === 0 && from === undefined && until === undefined;
}

/** The message in a row, whatever else is shown. */
export function selectedCall(row: number): Selection {
  return { query: `#${row + 1}`, hidden: [] };
}
