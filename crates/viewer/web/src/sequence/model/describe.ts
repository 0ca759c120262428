// Descriptions of objects of the diagram in words.

import type { Peer } from "../../generated/protocol";
import { ENDING_WORDS, outcomeOf } from "../../model/outcome";
import { Kind, NONE, type Recording } from "../../model/recording";
import { bytes, count, counted, duration, sinceStart } from "../../parts/format";
import { oneLine } from "../../parts/visibleText";
import type { Column } from "./columns";
import { lineOf } from "./runs";
import { isBeforeLast, markOf, placeOf, type Scene } from "./scene";

/** A property name with its value. */
export type Fact = readonly [name: string, value: string];

const KINDS = ["message of an unknown type", "call", "return", "error", "signal"] as const;

/** The name of a connection for people. */
export function nameOf(recording: Recording, peer: number): string {
  return peer === NONE ? "" : visible(recording.peers[peer]?.label ?? "");
}

/** Describes a message in a sentence, for screen readers. */
export function sentenceOf(recording: Recording, row: number): string {
  const subject = recording.subjectOf(row);
  const what = KINDS[recording.kind.get(row)] ?? KINDS[0];
  const member = textOf(recording, subject, "member");
  const error = recording.kind.get(row) === Kind.Error ? textOf(recording, row, "member") : "";
  const length = recording.durationOf(row);
  const parts = [
    `${what} ${member}`,
    error,
    `from ${nameOf(recording, recording.from.get(row)) || "an unknown sender"}`,
    `to ${receiverOf(recording, row)}`,
    length === undefined ? "" : duration(length),
  ];
  return parts.filter((part) => part !== "").join(", ");
}

/** The recipient of a message in words. */
export function receiverOf(recording: Recording, row: number): string {
  const to = recording.to.get(row);
  if (to !== NONE) return nameOf(recording, to);
  const destination = textOf(recording, row, "destination");
  if (destination !== "") return `${destination} (without an owner)`;
  const mark = markOf(recording, row);
  if (mark === "unreceived") return "no recipient: no match rule selects it";
  if (mark === "received")
    return counted(recording.recipientsOf(row).length, "connection", "connections");
  return "all subscribers";
}

/** The most important facts about a message. */
export function messageFacts(scene: Scene, row: number): Fact[] {
  const { recording } = scene;
  const subject = recording.subjectOf(row);
  const face = textOf(recording, subject, "interface");
  const member = textOf(recording, subject, "member");
  const kind = recording.kind.get(row);
  const facts: Fact[] = [
    [KINDS[kind] ?? KINDS[0], face === "" ? member : `${face}.${member}`],
    ["error", kind === Kind.Error ? textOf(recording, row, "member") : ""],
    ["path", textOf(recording, subject, "path")],
    ["from", nameOf(recording, recording.from.get(row))],
    ["to", receiverOf(recording, row)],
    ["at", sinceStart(recording.at.get(row))],
    ["earlier", isBeforeLast(scene, row) ? EARLIER : ""],
    durationFact(recording, row),
    ["size", bytes(recording.size.get(row))],
  ];
  return facts.filter(([, value]) => value !== "");
}

/** The facts about the group of repetitions that begins with a message. */
export function runFacts(scene: Scene, row: number): Fact[] {
  const { lines, recording, rows } = scene;
  const place = placeOf(scene, row) ?? 0;
  const length = lines.run[lineOf(lines, place)] ?? 0;
  const last = rows[place + length - 1] ?? row;
  const time = recording.at.get(last) - recording.at.get(row);
  const subject = textOf(recording, recording.subjectOf(row), "member");
  return [
    ["run", `${counted(length, "message", "messages")} of ${subject}, one after the other`],
    ["in", duration(time)],
    ["click", "to fold or unfold"],
  ];
}

/** The duration of a call, or its other outcome. */
function durationFact(recording: Recording, row: number): Fact {
  const call = recording.callOf(row);
  if (call === NONE) return ["duration", ""];
  const { ending, waited } = outcomeOf(recording, call);
  const isReplied = ending === "returned" || ending === "failed";
  if (isReplied) {
    return ["duration", waited === undefined ? "" : durationText(recording, call, waited)];
  }
  if (ending === "no-reply-expected") return ["duration", ""];
  const after = waited === undefined ? "" : ` after ${duration(waited)}`;
  return [
    "outcome",
    ending === "waiting" ? `no reply for ${duration(waited ?? 0)}` : ENDING_WORDS[ending] + after,
  ];
}

/** The duration of a call, and the part of it inside the bus, if known. */
function durationText(recording: Recording, call: number, length: number): string {
  const inBus = [call, recording.partnerOf(call)].reduce(
    (sum, part) => sum + (recording.writtenAt(part) - recording.at.get(part)),
    0,
  );
  if (inBus === 0) return duration(length);
  return `${duration(length)}: ${duration(inBus)} in the bus, ${duration(length - inBus)} by the service`;
}

/** The most important facts about a column. */
export function columnFacts(
  recording: Recording,
  column: Pick<Column, "peers" | "bus" | "messages">,
): Fact[] {
  const facts = column.peers.slice(0, PEERS_MAX).flatMap((peer) => peerFacts(peer));
  const bus = recording.buses.length > 1 ? visible(recording.buses[column.bus]?.label ?? "") : "";
  const rest = column.peers.length - PEERS_MAX;
  const all: readonly Fact[] = [
    ...facts,
    ["bus", bus],
    ["and", rest > 0 ? `${count(rest)} more` : ""],
    ["messages", count(column.messages)],
  ];
  return all.filter(([, value]) => value !== "");
}

function peerFacts({ unique, names, process, arrived, left, why }: Peer): Fact[] {
  return [
    ["names", visible(names.join(", "))],
    ["connection", visible(unique)],
    [
      "process",
      process?.pid === null || process === null
        ? ""
        : `${process.pid} ${visible(process.program ?? "")}`,
    ],
    ["command", visible(process?.command.join(" ") ?? "")],
    ["unit", visible(process?.unit ?? "")],
    ["user", process?.uid === null || process === null ? "" : String(process.uid)],
    ["came", arrived === null ? "" : sinceStart(arrived)],
    ["left", left === null ? "" : `${sinceStart(left)}${why === null ? "" : `: ${visible(why)}`}`],
  ];
}

function textOf(
  recording: Recording,
  row: number,
  column: "interface" | "member" | "path" | "destination",
): string {
  return visible(recording.text(recording[column].get(row)));
}

/** A text of a message or a process with invisible characters made visible. */
function visible(text: string): string {
  return oneLine(text, TEXT_MAX);
}

const TEXT_MAX = 400;
const EARLIER =
  "received before the message above; rows are in the order in which the bus routed them";
/** Maximum number of connections of one process in a description. */
const PEERS_MAX = 3;
