// The address of the page holds what is looked at, so that a link shows the same.

import { effect } from "@preact/signals";
import type { Recording } from "../model/recording";
import { type Comparison, comparisonOf } from "./comparison";
import type { Store } from "./store";
import { isView, type ViewName } from "./views";

/** What the address holds. */
export interface Place {
  readonly view: ViewName;
  readonly comparison: Comparison;
  readonly query: string;
  /** Connections by their unique names, with the number of the bus in front if it is not the first. */
  readonly hidden: readonly string[];
  readonly span: { readonly from: number; readonly until: number } | undefined;
  /** The number of the selected message, from 1. */
  readonly message: number | undefined;
}

/** What the part of an address behind its # says. What it does not say is as at first. */
export function parsePlace(hash: string): Place {
  const fields = new URLSearchParams(hash.replace(/^#/, ""));
  const view = fields.get("view") ?? "";
  const [from, until] = (fields.get("span") ?? "").split("-").map(Number);
  const isSpan = from !== undefined && until !== undefined && from < until;
  const message = Number(fields.get("message"));
  return {
    view: isView(view) ? view : "sequence",
    comparison: comparisonOf(fields.get("compare"), fields.get("align")),
    query: fields.get("q") ?? "",
    hidden: (fields.get("hide") ?? "").split(",").filter((name) => name !== ""),
    span: isSpan ? { from, until } : undefined,
    message: Number.isInteger(message) && message > 0 ? message : undefined,
  };
}

/** The part of an address behind its #, with it. */
export function formatPlace(place: Place): string {
  const fields = new URLSearchParams();
  if (place.view !== "sequence") fields.set("view", place.view);
  const { tab, alignment } = place.comparison;
  if (tab !== "differences") fields.set("compare", tab);
  if (alignment !== "start") fields.set("align", alignment);
  if (place.query !== "") fields.set("q", place.query);
  if (place.hidden.length > 0) fields.set("hide", place.hidden.join(","));
  if (place.span !== undefined) {
    fields.set("span", `${Math.round(place.span.from)}-${Math.round(place.span.until)}`);
  }
  if (place.message !== undefined) fields.set("message", String(place.message));
  const text = fields.toString();
  return text === "" ? "" : `#${text}`;
}

/** What connections are called in addresses. */
export function addressName(recording: Recording, id: number): string {
  const peer = recording.peers[id];
  if (peer === undefined) return "";
  return peer.bus === 0 ? peer.unique : `${peer.bus}/${peer.unique}`;
}

/** Has the store follow the address of the page, and the address the store. */
export function followAddress(store: Store): void {
  // What the address names and is looked for in what is told of the recording.
  let hidden: readonly string[] | undefined;
  let message: number | undefined;
  const read = (): void => {
    const place = parsePlace(location.hash);
    store.view.value = place.view;
    store.comparison.value = place.comparison;
    store.setQuery(place.query);
    store.span.value = place.span;
    store.selectMessage(undefined);
    ({ hidden, message } = place);
    resolve();
  };
  const resolve = (): void => {
    const recording = store.recording.peek();
    if (recording.length === 0) return;
    if (hidden !== undefined) {
      const names = new Set(hidden);
      const known = recording.peers.filter(({ id }) => names.has(addressName(recording, id)));
      store.setHidden(known.map(({ id }) => id));
      hidden = undefined;
    }
    const row = message === undefined ? undefined : message - 1 - recording.before;
    if (row === undefined || row >= recording.length) return;
    message = undefined;
    if (row >= 0) store.selectMessage(row);
  };
  addEventListener("hashchange", read);
  read();
  effect(() => {
    store.grown.value;
    resolve();
  });
  effect(() => {
    const recording = store.recording.value;
    const selected = store.selected.value;
    // Who has selected another one does not wait for it any more.
    if (selected !== undefined) message = undefined;
    const place: Place = {
      view: store.view.value,
      comparison: store.comparison.value,
      query: store.draft.value,
      hidden: [...store.hidden.value].map((id) => addressName(recording, id)),
      span: store.span.value,
      // A message that is not there yet may come.
      message: selected === undefined ? message : selected + 1 + recording.before,
    };
    if (hidden !== undefined) return;
    const hash = formatPlace(place);
    if (hash !== location.hash) {
      history.replaceState(null, "", `${location.pathname}${location.search}${hash}`);
    }
  });
}
