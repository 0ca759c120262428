import { expect, test } from "vitest";
import type { Peer } from "../../generated/protocol";
import { type ColumnOptions, columnsOf, DRIVER, isMerged } from "./columns";
import { ALONE, allRows, call, peer, recordingOf, signal } from "./sample";
import { Tally } from "./tally";

/** A connection of a program that has disconnected. */
function client(id: number, program: string, differs: Partial<Peer> = {}): Peer {
  const process = { pid: 100 + id, uid: 0, program, exe: null, command: [], unit: null };
  return peer(id, { process, label: `${program} (:1.${id})`, left: id * 10, ...differs });
}

const MERGED: ColumnOptions = { ...ALONE, merging: { merges: "programs", expanded: new Set() } };

/** The labels of the columns. Each connection calls the bus once; `more` lists further messages. */
function labels(peers: readonly Peer[], options = MERGED, more: readonly number[] = []): string[] {
  const bus = peer(0, { unique: DRIVER, label: DRIVER });
  const samples = [
    ...peers.map(({ id }, at) => call(at, id, 0, "Hello")),
    ...more.map((id, at) => signal(1000 + at, id, "Changed")),
  ];
  const recording = recordingOf(samples, [bus, ...peers]);
  const tally = new Tally();
  tally.count(recording, allRows(recording), 0);
  const { all, ofPeer } = columnsOf(recording, tally, options);
  for (const { peers } of all)
    for (const one of peers) expect(all[ofPeer[one.id] ?? 0]?.peers).toContain(one);
  return all.map((column) => `${column.label}${isMerged(column) ? " merged" : ""}`);
}

const SENDS = [1, 2, 3].map((id) => client(id, "dbus-send"));

test("short-lived connections of one program have one column", () => {
  expect(labels([...SENDS, client(4, "gdbus")])).toEqual([
    DRIVER,
    "dbus-send × 3 merged",
    "gdbus (:1.4)",
  ]);
});

test.each<[string, Peer]>([
  ["still there", client(4, "dbus-send", { left: null })],
  ["with a name", client(4, "dbus-send", { names: ["org.example.Mail"] })],
  ["of the recorder", client(4, "dbus-send", { recorder: true })],
  ["on another bus", client(4, "dbus-send", { bus: 1 })],
])("a connection that is %s has its own", (_, other) => {
  expect(labels([...SENDS, other])).toEqual([DRIVER, "dbus-send × 3 merged", "dbus-send (:1.4)"]);
});

test("a connection with many messages has its own column", () => {
  const busy = Array.from({ length: 101 }, () => 4);
  expect(labels([...SENDS, client(4, "dbus-send")], MERGED, busy)).toContain("dbus-send (:1.4)");
});

test("two connections and unknown programs are not merged", () => {
  const unknown = [5, 6, 7].map((id) => client(id, "x", { process: null, label: `:1.${id}` }));
  expect(labels([...SENDS.slice(0, 2), ...unknown])).toHaveLength(6);
});

test("expanded groups and disabled merging give each connection a column", () => {
  const expanded: ColumnOptions = {
    ...ALONE,
    merging: { merges: "programs", expanded: new Set(["program 0/dbus-send"]) },
  };
  const each = [DRIVER, "dbus-send (:1.1)", "dbus-send (:1.2)", "dbus-send (:1.3)"];
  expect(labels(SENDS, expanded)).toEqual(each);
  expect(labels(SENDS, ALONE)).toEqual(each);
});

test("hidden connections do not count for their program", () => {
  expect(labels(SENDS, { ...MERGED, hidden: new Set([2]) })).toEqual([
    DRIVER,
    "dbus-send (:1.1)",
    "dbus-send (:1.3)",
  ]);
});
