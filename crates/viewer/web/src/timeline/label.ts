// Labels and descriptions of spans.

import { ENDING_WORDS, outcomeOf } from "../model/outcome";
import { Kind, NONE, type Recording } from "../model/recording";
import { duration, sinceStart } from "../parts/format";
import { oneLine } from "../parts/visibleText";
import { deliveredAfter, type Role } from "./tracks";

/** The label of the span of a message. */
export function nameOf(recording: Recording, row: number, most = 200): string {
  const subject = recording.subjectOf(row);
  const member = recording.text(recording.member.get(subject));
  return oneLine(member === "" ? (KINDS[recording.kind.get(row)] ?? "message") : member, most);
}

const KINDS: Readonly<Record<number, string>> = {
  [Kind.Unknown]: "message",
  [Kind.Call]: "call",
  [Kind.Return]: "return",
  [Kind.Error]: "error",
  [Kind.Signal]: "signal",
};

/** A description of a message and its peers, line by line. */
export function linesOf(recording: Recording, row: number, role: Role): string[] {
  const subject = recording.subjectOf(row);
  const member = nameOf(recording, row);
  const iface = oneLine(recording.text(recording.interface.get(subject)), 200);
  const lines = [iface === "" ? member : `${iface}.${member}`];
  lines.push(`${WORDS[role]}: ${partiesOf(recording, row)}`);
  lines.push(...timesOf(recording, row, role));
  return lines;
}

const WORDS: Readonly<Record<Role, string>> = {
  bus: "in the bus",
  serves: "in the service",
  waits: "waits",
  sends: "sends",
};

/** The sender and the recipient, such as `demo-anna → demo-room`. */
export function partiesOf(recording: Recording, row: number): string {
  const from = partyOf(recording, recording.from.get(row));
  const to = recording.to.get(row);
  if (to !== NONE) return `${from} → ${partyOf(recording, to)}`;
  const destination = recording.text(recording.destination.get(row));
  if (destination !== "") return `${from} → ${oneLine(destination, 80)}`;
  const copies = recording.recipientsOf(row).length;
  return copies > 0 ? `${from} → ${copies} recipients` : from;
}

function partyOf(recording: Recording, peer: number): string {
  const label = recording.peers[peer]?.label;
  return label === undefined ? "unknown connection" : oneLine(label, 80);
}

function timesOf(recording: Recording, row: number, role: Role): string[] {
  if (role === "bus") return busTimes(recording, row);
  const at = `at ${sinceStart(recording.at.get(row))}`;
  const call = recording.callOf(row);
  if (call === NONE) return [at];
  const { ending, waited } = outcomeOf(recording, call);
  if (ending === "waiting" || ending === "caller-left") {
    return [`${at}, ${ENDING_WORDS[ending]} after ${duration(waited ?? 0)}`];
  }
  const length = recording.durationOf(row);
  if (length === undefined) return [at];
  const reply = recording.partner.get(row);
  const answer = recording.kind.get(reply) === Kind.Error ? "error" : "answered";
  const error = recording.kind.get(reply) === Kind.Error ? recording.member.get(reply) : undefined;
  const name = error === undefined ? "" : ` ${oneLine(recording.text(error), 120)}`;
  return [`${at}, ${answer}${name} after ${duration(length)}`, ...busShare(recording, row, reply)];
}

/** The part of a call that it spent in the bus, if known. */
function busShare(recording: Recording, call: number, reply: number): string[] {
  const inBus = deliveredAfter(recording, call) + deliveredAfter(recording, reply);
  return inBus === 0 ? [] : [`${duration(inBus)} of it in the bus`];
}

function busTimes(recording: Recording, row: number): string[] {
  const routed = recording.routed.get(row);
  const delivered = deliveredAfter(recording, row);
  const lines = [
    `received at ${sinceStart(recording.at.get(row))}`,
    `routed after ${duration(routed)}`,
  ];
  const copies = recording.recipientsOf(row).length;
  if (delivered > 0)
    lines.push(`sent ${copies === 1 ? "" : `${copies} times `}after ${duration(delivered)}`);
  return lines;
}
