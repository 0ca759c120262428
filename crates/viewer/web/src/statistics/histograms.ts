// Distributions of the durations and sizes of each member's messages.

import type { Peer } from "../generated/protocol";
import { Kind, NONE, type Recording } from "../model/recording";
import type { Span } from "../state/store";

/** The measured quantity: nanoseconds from call to return, or bytes. */
export type HistogramMeasure = "durations" | "sizes";

/** Counts in logarithmic bins. */
export interface Spread {
  readonly bins: Uint32Array;
  /** The row of the message with the largest value; for durations, the row of the call. */
  largest: number;
  largestValue: number;
}

/** The distributions of all members, found by the texts of table rows. */
export class Spreads {
  private readonly pairs = new Map<number, number>();
  private readonly places = new Map<number, Spread>();
  private readonly named = new Map<string, Spread>();

  constructor(
    private readonly recording: Recording,
    private readonly measure: HistogramMeasure,
    private readonly span: Span | undefined,
  ) {}

  /** Adds a message, if it still exists. */
  add(row: number): void {
    const { recording, measure } = this;
    if (row >= recording.length || !isWithin(recording.at.get(row), this.span)) return;
    const value = measure === "sizes" ? recording.size.get(row) : this.durationOf(row);
    if (value === undefined) return;
    const spread = this.spreadOf(row, measure === "sizes" ? recording.kind.get(row) : Kind.Call);
    const bin = binOf(value, measure);
    spread.bins[bin] = (spread.bins[bin] as number) + 1;
    if (value > spread.largestValue) {
      spread.largestValue = value;
      spread.largest = row;
    }
  }

  /** Merges distributions that have the same texts in tables. */
  finish(): void {
    for (const [key, spread] of this.places) {
      const name = this.nameOf(spread.largest, key % KINDS);
      const known = this.named.get(name);
      if (known === undefined) this.named.set(name, spread);
      else merge(known, spread);
    }
  }

  /** The distribution of a table row; undefined if it has none. */
  get(member: string, service: string, type: string): Spread | undefined {
    return this.named.get(`${type}\n${service}\n${member}`);
  }

  /** The duration of a call that returned. Failed calls have their own columns. */
  private durationOf(row: number): number | undefined {
    const { recording } = this;
    if (recording.kind.get(row) !== Kind.Call) return undefined;
    const reply = recording.partner.get(row);
    const isReturned = reply !== NONE && recording.kind.get(reply) === Kind.Return;
    return isReturned ? recording.durationOf(row) : undefined;
  }

  private spreadOf(row: number, kind: number): Spread {
    const { recording } = this;
    const subject = recording.subjectOf(row);
    const texts = recording.strings.length;
    const member = recording.member.get(subject) + recording.interface.get(subject) * texts;
    const service = this.serviceOf(subject);
    // String and peer indices are below 2^26, so the combined key is an exact number.
    const pair = this.pairs.get(member) ?? this.pairs.size;
    if (pair === this.pairs.size) this.pairs.set(member, pair);
    const key = (pair * SERVICES + service) * KINDS + kind;
    let spread = this.places.get(key);
    if (spread === undefined) {
      spread = { bins: new Uint32Array(BINS), largest: row, largestValue: -1 };
      this.places.set(key, spread);
    }
    return spread;
  }

  /** A number for the callee of a call or the sender of a signal. */
  private serviceOf(subject: number): number {
    const { recording } = this;
    const isCall = recording.kind.get(subject) === Kind.Call;
    const place = isCall ? recording.destination.get(subject) : recording.from.get(subject);
    return (place === NONE ? 0 : place + 1) * 2 + (isCall ? 1 : 0);
  }

  private nameOf(row: number, kind: number): string {
    const { recording } = this;
    const subject = recording.subjectOf(row);
    const [member, face] = [recording.member, recording.interface].map((column) =>
      recording.text(column.get(subject)),
    );
    const full = face === "" ? member : `${face}.${member}`;
    return `${TYPES[kind]}\n${serviceName(recording, subject)}\n${full}`;
  }
}

/** The number of bins. */
export const BINS = 36;

/** The bin that contains a value. */
export function binOf(value: number, measure: HistogramMeasure): number {
  const { first, perDecade } = SCALES[measure];
  const bin = Math.floor(Math.log10(Math.max(value, 1) / first) * perDecade);
  return Math.min(Math.max(bin, 0), BINS - 1);
}

/** The lower bound of a bin. */
export function binStart(bin: number, measure: HistogramMeasure): number {
  const { first, perDecade } = SCALES[measure];
  return first * 10 ** (bin / perDecade);
}

/** The text in tables for the callee of a call or the sender of a signal. */
function serviceName(recording: Recording, subject: number): string {
  if (recording.kind.get(subject) !== Kind.Call) {
    return peerName(recording.peers[recording.from.get(subject)]);
  }
  const name = recording.text(recording.destination.get(subject));
  if (name === "") return UNKNOWN;
  const isUnique = name.startsWith(":");
  const peer = isUnique ? recording.peers[recording.to.get(subject)] : undefined;
  return peer === undefined ? name : peerName(peer);
}

function peerName(peer: Peer | undefined): string {
  return peer === undefined ? UNKNOWN : (peer.names[0] ?? peer.label);
}

function isWithin(at: number, span: Span | undefined): boolean {
  return span === undefined || (span.from <= at && at < span.until);
}

function merge(into: Spread, other: Spread): void {
  for (let bin = 0; bin < BINS; bin++) {
    into.bins[bin] = (into.bins[bin] as number) + (other.bins[bin] as number);
  }
  if (other.largestValue > into.largestValue) {
    into.largestValue = other.largestValue;
    into.largest = other.largest;
  }
}

/** The text in tables for a peer that the header does not name. */
const UNKNOWN = "(unknown)";

/** The texts in tables for message types, by `Kind`. */
const TYPES = ["unknown", "call", "return", "error", "signal"];
const KINDS = TYPES.length;
const SERVICES = 2 ** 28;

/** Covers 1 µs to 1000 s, and 10 bytes to 10 GB. */
const SCALES: Readonly<
  Record<HistogramMeasure, { readonly first: number; readonly perDecade: number }>
> = {
  durations: { first: 1e3, perDecade: 4 },
  sizes: { first: 10, perDecade: 4 },
};
