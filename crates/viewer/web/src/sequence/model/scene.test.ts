import { expect, test } from "vitest";
import type { Peer } from "../../generated/protocol";
import { Kind, NONE } from "../../model/recording";
import { shownIn } from "../../state/visible";
import { yOfRow, yOfTime } from "./axis";
import { slotAt } from "./clock";
import { type ColumnOptions, columnsOf, DRIVER } from "./columns";
import { keptOf } from "./kept";
import { type NavigationStep, stepFrom } from "./navigate";
import { ALONE, add, allRows, call, peer, recordingOf, reply, type Sample, signal } from "./sample";
import { markOf, type Scene, sceneOf } from "./scene";
import { Tally } from "./tally";

const COLUMNS = ALONE;
const FOLDING = { folds: "runs", unfolded: new Set<number>() } as const;

const process = (pid: number): Peer["process"] => ({
  pid,
  uid: 0,
  program: "p",
  exe: null,
  command: [],
  unit: null,
});

const PEERS: Peer[] = [
  peer(0, { unique: DRIVER, label: DRIVER }),
  peer(1, { names: ["org.example.Mail"], process: process(7) }),
  peer(2, { process: process(7) }),
  peer(3),
];

const SAMPLES: Sample[] = [
  call(0, 3, 1, "Get"),
  call(5, 3, 0, "AddMatch"),
  reply(9, 1, 3, 0),
  signal(7, 2, "Changed", [3]),
  call(20, 3, undefined, "Get"),
  signal(30, 1, "Changed", []),
  signal(31, 1, "Changed"),
];

function scene(): Scene {
  const recording = recordingOf(SAMPLES, PEERS);
  return sceneOf(recording, allRows(recording), FOLDING, COLUMNS);
}

test.each<[Partial<ColumnOptions>, string[]]>([
  [{}, [DRIVER, ":1.3", "org.example.Mail", ":1.2"]],
  [{ grouping: "process" }, [DRIVER, ":1.3", "org.example.Mail +1"]],
  [{ hidden: new Set([0, 3]) }, ["org.example.Mail", ":1.2"]],
  [{ order: "traffic" }, [DRIVER, ":1.3", "org.example.Mail", ":1.2"]],
])("columns with %o", (differs, expected) => {
  const recording = recordingOf(SAMPLES, PEERS);
  const tally = new Tally();
  tally.count(recording, allRows(recording), 0);
  const columns = columnsOf(recording, tally, { ...COLUMNS, ...differs });
  expect(columns.all.map(({ label }) => label)).toEqual(expected);
});

test("a peer without displayed messages has no column", () => {
  const recording = recordingOf(SAMPLES, PEERS);
  const { columns } = sceneOf(recording, Uint32Array.of(0, 2), FOLDING, COLUMNS);
  expect(columns.all.map(({ messages }) => messages)).toEqual([2, 2]);
  expect(columns.ofPeer[2]).toBe(NONE);
});

test.each([
  [0, "call"],
  [2, "return"],
  [3, "received"],
  [4, "lost"],
  [5, "unreceived"],
  [6, "broadcast"],
])("row %d is drawn as %s", (row, mark) => {
  expect(markOf(scene().recording, row)).toBe(mark);
});

test("a signal to one connection is drawn as directed", () => {
  const recording = recordingOf([{ at: 0, kind: Kind.Signal, from: 1, to: 2 }], PEERS);
  expect(markOf(recording, 0)).toBe("directed");
});

test.each<[number, NavigationStep, number | undefined]>([
  [0, "next", 1],
  [0, "previous", undefined],
  [6, "next", undefined],
  [0, "partner", 2],
  [0, "reply", 2],
  [0, "call", undefined],
  [2, "call", 0],
  [1, "partner", undefined],
  [0, "next-like", 4],
  [4, "previous-like", 0],
  [3, "next-like", 5],
])("from row %d %s leads to %s", (row, step, expected) => {
  expect(stepFrom(scene(), row, step)).toBe(expected);
});

test("messages that are not in order are found by their times", () => {
  const { clock } = scene();
  expect([...clock.times]).toEqual([0, 5, 7, 9, 20, 30, 31]);
  expect([...clock.places]).toEqual([0, 1, 3, 2, 4, 5, 6]);
  expect(slotAt(clock, 8)).toBe(3);
});

test("an incremental scene equals a complete one", () => {
  const recording = recordingOf(SAMPLES.slice(0, 3), PEERS);
  const first = sceneOf(recording, allRows(recording), FOLDING, COLUMNS);
  add(recording, SAMPLES.slice(3));
  const grown = sceneOf(recording, allRows(recording), FOLDING, COLUMNS, first);
  const parts = { recording: undefined, placement: undefined };
  expect({ ...grown, ...parts }).toEqual({ ...scene(), ...parts });
});

test("positions of messages in order and to scale", () => {
  const order = { is: "order" } as const;
  const time = { is: "time", from: 0, until: 40, scale: 10 } as const;
  expect(yOfRow(scene(), order, 2)).toBe(2.5 * 34);
  expect(yOfTime(scene(), order, 100)).toBe(7 * 34);
  expect(yOfRow(scene(), time, 2)).toBe(9 * 10 + 24);
});

test.each([
  [undefined, [0, 1, 2, 3, 4, 5, 6]],
  [{ from: 5, until: 20 }, [1, 2, 3]],
])("of the span %o rows %o are shown", (span, expected) => {
  const { recording, rows } = scene();
  expect([...shownIn(recording, rows, span)]).toEqual(expected);
});

test("rows that are not loaded yet are not displayed", () => {
  const { recording } = scene();
  expect([...shownIn(recording, Uint32Array.of(5, 6, 7), undefined)]).toEqual([5, 6]);
});

test.each([
  [[0, 1], [0, 1, 2], 2],
  [[0, 1], [0, 2, 3], 0],
  [[0, 1], [0], 0],
  [[], [0], 0],
])("of %o and %o %d are the same", (before, after, expected) => {
  expect(keptOf(Uint32Array.from(before), Uint32Array.from(after))).toBe(expected);
});
