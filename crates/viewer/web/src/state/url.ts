// The address of the page holds what is looked at, so that a link shows the same.

import { batch, effect } from "@preact/signals";
import type { Recording } from "../model/recording";
import { type Comparison, comparisonOf } from "./comparison";
import type { Span, Store } from "./store";
import { isView, type ViewName } from "./views";

/** What the address holds. */
export interface AddressPlace {
  readonly view: ViewName;
  readonly comparison: Comparison;
  readonly query: string;
  /** Connections by their unique names, with the number of the bus in front if it is not the first. */
  readonly hidden: readonly string[];
  readonly span: Span | undefined;
  /** The number of the selected message, from 1. */
  readonly message: number | undefined;
}

/** A part of the page that has something of its own in the address. */
export interface AddressPart {
  /** Adds what it shows, unless that is what it shows at first. */
  write(fields: URLSearchParams): void;
  /** Shows what an address says; what that does not say is as at first. */
  read(fields: URLSearchParams): void;
}

/** What the part of an address behind its # says. What it does not say is as at first. */
export function parsePlace(hash: string): AddressPlace {
  const fields = fieldsOf(hash);
  const view = fields.get("view") ?? "";
  const message = Number(fields.get("message"));
  return {
    view: isView(view) ? view : "sequence",
    comparison: comparisonOf(fields.get("compare"), fields.get("align")),
    query: fields.get("q") ?? "",
    hidden: (fields.get("hide") ?? "").split(",").filter((name) => name !== ""),
    span: parseSpan(fields.get("span") ?? ""),
    message: Number.isInteger(message) && message > 0 ? message : undefined,
  };
}

/** A stretch of time as addresses have it. */
export function formatSpan({ from, until }: Span): string {
  return `${Math.round(from)}-${Math.round(until)}`;
}

/** The stretch of time that an address has; undefined if it is none. */
export function parseSpan(text: string): Span | undefined {
  const [from, until, more] = text.split("-").map(Number);
  const isSpan = from !== undefined && until !== undefined && from < until && more === undefined;
  return isSpan ? { from, until } : undefined;
}

/** The part of an address behind its #, with it. */
export function formatPlace(place: AddressPlace, parts: readonly AddressPart[] = []): string {
  const fields = new URLSearchParams();
  if (place.view !== "sequence") fields.set("view", place.view);
  const { tab, alignment } = place.comparison;
  if (tab !== "differences") fields.set("compare", tab);
  if (alignment !== "start") fields.set("align", alignment);
  if (place.query !== "") fields.set("q", place.query);
  if (place.hidden.length > 0) fields.set("hide", place.hidden.join(","));
  if (place.span !== undefined) fields.set("span", formatSpan(place.span));
  if (place.message !== undefined) fields.set("message", String(place.message));
  for (const part of parts) part.write(fields);
  const text = fields.toString();
  return text === "" ? "" : `#${text}`;
}

/** What connections are called in addresses. */
export function addressName(recording: Recording, id: number): string {
  const peer = recording.peers[id];
  if (peer === undefined) return "";
  return peer.bus === 0 ? peer.unique : `${peer.bus}/${peer.unique}`;
}

function fieldsOf(hash: string): URLSearchParams {
  return new URLSearchParams(hash.replace(/^#/, ""));
}

/** Has the store and parts of the page follow the address, and the address these. */
export function followAddress(store: Store, parts: readonly AddressPart[]): void {
  const address = writerOf(store);
  // What the address names and is looked for in what is told of the recording.
  let hidden: readonly string[] | undefined;
  let message: number | undefined;
  // All at once: the address is written anew whenever something of it is another.
  const read = (): void =>
    batch(() => {
      const place = parsePlace(location.hash);
      const fields = fieldsOf(location.hash);
      store.view.value = place.view;
      store.comparison.value = place.comparison;
      store.setQuery(place.query);
      store.span.value = place.span;
      store.selectMessage(undefined);
      for (const part of parts) part.read(fields);
      ({ hidden, message } = place);
      resolve();
    });
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
  addEventListener("hashchange", () => {
    address.discard();
    read();
  });
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
    const place: AddressPlace = {
      view: store.view.value,
      comparison: store.comparison.value,
      query: store.draft.value,
      hidden: [...store.hidden.value].map((id) => addressName(recording, id)),
      span: store.span.value,
      // A message that is not there yet may come.
      message: selected === undefined ? message : selected + 1 + recording.before,
    };
    const hash = formatPlace(place, parts);
    if (hidden === undefined) address.write(hash);
  });
}

/** The address of what the page shows now. */
export function link(store: Store): string {
  writerOf(store).flush();
  return location.href;
}

function writerOf(store: Store): AddressWriter {
  return store.part(AddressWriter, () => new AddressWriter());
}

/** Browsers refuse more than 200 changes of the address in 30 s. A drag changes it with each move. */
const WRITE_INTERVAL_MS = 200;

/**
 * Writes the part of the address behind its #, at most once in `WRITE_INTERVAL_MS`. Another view is
 * another entry of the history, written at once, so that Back leads to the view before. Everything else
 * changes the current entry.
 */
class AddressWriter {
  /** What the running code wrote last; it is looked at when that code has ended. */
  private next: string | undefined;
  /** What waits for the timer. */
  private delayed: string | undefined;
  private timer: ReturnType<typeof setTimeout> | undefined;

  write(hash: string): void {
    if (this.next === undefined) queueMicrotask(() => this.settle());
    this.next = hash;
  }

  /** Forgets what waits: the address was changed by another. */
  discard(): void {
    this.delayed = undefined;
  }

  /** Writes what waits. */
  flush(): void {
    const hash = this.delayed;
    this.delayed = undefined;
    if (hash !== undefined && hash !== location.hash) history.replaceState(null, "", urlOf(hash));
  }

  private settle(): void {
    const hash = this.next ?? "";
    this.next = undefined;
    if (parsePlace(hash).view !== parsePlace(location.hash).view) {
      this.flush();
      history.pushState(null, "", urlOf(hash));
      return;
    }
    this.delayed = hash;
    if (this.timer === undefined) this.writeAndWait();
  }

  private writeAndWait(): void {
    this.timer = undefined;
    if (this.delayed === undefined) return;
    this.flush();
    this.timer = setTimeout(() => this.writeAndWait(), WRITE_INTERVAL_MS);
  }
}

function urlOf(hash: string): string {
  return `${location.pathname}${location.search}${hash}`;
}
