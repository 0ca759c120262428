// Frames for unit tests.

import type { Numbers } from "../format/frame";
import type { ColumnName, MessagesHead, Peer } from "../generated/protocol";
import { type MessagesFrame, ROW_COLUMNS } from "./recording";

/** Columns in which -1 stands for an absent value. */
const OPTIONAL: readonly ColumnName[] = ["from", "to", "answers", "routed", "delivered"];

/** A frame with `count` messages. Columns that are not given have absent values or zeros. */
export function messagesFrame(
  count: number,
  head: Partial<MessagesHead>,
  given: Partial<Record<ColumnName, Numbers>>,
): MessagesFrame {
  const columns = new Map<ColumnName, Numbers>();
  for (const name of ROW_COLUMNS) {
    columns.set(name, new Int8Array(count).fill(OPTIONAL.includes(name) ? -1 : 0));
  }
  columns.set("recipients", new Uint8Array(0));
  if (given.step === undefined) columns.set("at", new Float64Array(count));
  for (const name of [...ROW_COLUMNS, "at", "step", "recipients"] as const) {
    const numbers = given[name];
    if (numbers !== undefined) columns.set(name, numbers);
  }
  return { head: { ...HEAD, count, total: count, ...head }, columns };
}

/** A peer with defaults for all properties that are not given. */
export function peerOf(id: number, unique: string, more: Partial<Peer> = {}): Peer {
  return { ...PEER, id, unique, label: unique, ...more };
}

const PEER = {
  bus: 0,
  names: [],
  process: null,
  arrived: null,
  left: null,
  why: null,
  recorder: false,
};

const HEAD = {
  kind: "messages",
  first: 0,
  start_ns: "0",
  first_string: 0,
  strings: [],
  peers: [],
  files: [],
  buses: [],
} as const;
