// The state of the page in its address, so that a link shows the same.

import { batch, effect } from "@preact/signals";
import type { Recording } from "../model/recording";
import { type Comparison, comparisonOf } from "./comparison";
import type { Span, Store } from "./store";
import { isView, type ViewName } from "./views";

/** The contents of the address. */
export interface AddressPlace {
  readonly view: ViewName;
  readonly comparison: Comparison;
  readonly query: string;
  /**
   * Connections by their unique names, preceded by the number of the bus if it is not the first.
   */
  readonly hidden: readonly string[];
  readonly span: Span | undefined;
  /** The number of the selected message, from 1. */
  readonly message: number | undefined;
}

/** A part of the page with its own fields in the address. */
export interface AddressPart {
  /** Adds its state, unless it is the default. */
  write(fields: URLSearchParams): void;
  /** Applies an address. Missing fields get their defaults. */
  read(fields: URLSearchParams): void;
}

/** Parses the part of an address after the #. Missing fields get their defaults. */
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

/** Formats a time range for addresses. */
export function formatSpan({ from, until }: Span): string {
  return `${Math.round(from)}-${Math.round(until)}`;
}

/** Parses the time range of an address; undefined if it is invalid. */
export function parseSpan(text: string): Span | undefined {
  const [from, until, more] = text.split("-").map(Number);
  const isSpan = from !== undefined && until !== undefined && from < until && more === undefined;
  return isSpan ? { from, until } : undefined;
}

/** Formats the part of an address from the # on. */
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

/** The name of a connection in addresses. */
export function addressName(recording: Recording, id: number): string {
  const peer = recording.peers[id];
  if (peer === undefined) return "";
  return peer.bus === 0 ? peer.unique : `${peer.bus}/${peer.unique}`;
}

function fieldsOf(hash: string): URLSearchParams {
  return new URLSearchParams(hash.replace(/^#/, ""));
}

/** Synchronizes the address with the store and with the parts of the page. */
export function followAddress(store: Store, parts: readonly AddressPart[]): void {
  const address = writerOf(store);
  // Names of the address that are searched in the recording while it loads.
  let hidden: readonly string[] | undefined;
  let message: number | undefined;
  // All changes at once, because the address is written again after each change.
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
    // A selection by the user replaces the message of the address.
    if (selected !== undefined) message = undefined;
    const place: AddressPlace = {
      view: store.view.value,
      comparison: store.comparison.value,
      query: store.draft.value,
      hidden: [...store.hidden.value].map((id) => addressName(recording, id)),
      span: store.span.value,
      // A message that has not arrived yet may arrive later.
      message: selected === undefined ? message : selected + 1 + recording.before,
    };
    const hash = formatPlace(place, parts);
    if (hidden === undefined) address.write(hash);
  });
}

/** The address of the displayed state. */
export function link(store: Store): string {
  writerOf(store).flush();
  return location.href;
}

function writerOf(store: Store): AddressWriter {
  return store.part(AddressWriter, () => new AddressWriter());
}

/**
 * Browsers refuse more than 200 changes of the address in 30 s. A drag changes it with each
 * movement.
 */
const WRITE_INTERVAL_MS = 200;

/**
 * Writes the part of the address after the #, at most once in `WRITE_INTERVAL_MS`. A change of the
 * view adds an entry to the history immediately, so that Back leads to the previous view. All other
 * changes replace the current entry.
 */
class AddressWriter {
  /** The last address of the running code. It is handled when that code has ended. */
  private next: string | undefined;
  /** The address that waits for the timer. */
  private delayed: string | undefined;
  private timer: ReturnType<typeof setTimeout> | undefined;
  /** The address that was written or read last. */
  private current = location.hash;

  write(hash: string): void {
    if (this.next === undefined) queueMicrotask(() => this.settle());
    this.next = hash;
  }

  /** Discards the waiting address, because another change of the address has replaced it. */
  discard(): void {
    this.delayed = undefined;
    this.current = location.hash;
  }

  /** Writes the waiting address. */
  flush(): void {
    const hash = this.delayed;
    this.delayed = undefined;
    if (hash === undefined || hash === location.hash || this.hasMoved()) return;
    history.replaceState(null, "", urlOf(hash));
    this.current = location.hash;
  }

  /** After Back or Forward, the address changes before its event, and must not be overwritten. */
  private hasMoved(): boolean {
    return location.hash !== this.current;
  }

  private settle(): void {
    const hash = this.next ?? "";
    this.next = undefined;
    if (this.hasMoved()) return;
    if (parsePlace(hash).view !== parsePlace(location.hash).view) {
      this.flush();
      history.pushState(null, "", urlOf(hash));
      this.current = location.hash;
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
