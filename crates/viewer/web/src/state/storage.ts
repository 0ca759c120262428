// Values that the page remembers, if the browser allows it.

import { effect, type Signal, signal } from "@preact/signals";

/** A signal whose value is stored. Without storage it is an ordinary signal. */
export function remembered<T>(
  key: string,
  first: T,
  read: (kept: unknown) => T | undefined,
): Signal<T> {
  const kept = signal(recall(key, read) ?? first);
  effect(() => keep(key, kept.value));
  return kept;
}

/** One of these texts; undefined for other values. */
export function oneOf<T extends string>(texts: readonly T[]): (kept: unknown) => T | undefined {
  return (kept) => texts.find((text) => text === kept);
}

/** A list of texts; undefined for other values. */
export function textsOf(kept: unknown): string[] | undefined {
  return Array.isArray(kept) && kept.every((text) => typeof text === "string") ? kept : undefined;
}

/** A number; undefined for other values. */
export function numberOf(kept: unknown): number | undefined {
  return typeof kept === "number" && Number.isFinite(kept) ? kept : undefined;
}

function recall<T>(key: string, read: (kept: unknown) => T | undefined): T | undefined {
  try {
    return read(JSON.parse(localStorage.getItem(PREFIX + key) ?? "null"));
  } catch {
    return undefined;
  }
}

function keep(key: string, value: unknown): void {
  try {
    localStorage.setItem(PREFIX + key, JSON.stringify(value));
  } catch {
    // A page from a file, or in a private window, may not have storage.
  }
}

const PREFIX = "diligence.";
