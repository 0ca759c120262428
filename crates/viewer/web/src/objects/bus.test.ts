import { expect, test } from "vitest";
import type { BusObject, Name, NameOwner, WatchedSignal } from "../generated/protocol";
import { argumentsText, traitsOf } from "./annotations";
import { BusFailure } from "./bus";
import { changesOf, withChanges } from "./changes";
import { LineReader } from "./lines";
import { groupNames, ownerFacts, ownerText } from "./names";
import { LINES_MAX, SignalLog } from "./signalLog";
import { timingOf } from "./timing";

test.each<[string, number | undefined]>([
  ['argument 2 must be a string (s), but is 3; example: "text"', 2],
  ["org.a.Error: argument 2 must be another", undefined],
  ["no reply within 25s", undefined],
])("%s concerns argument %s", (sentence, argument) => {
  expect(new BusFailure(sentence).argument).toBe(argument);
});

test.each<[string[], string[]]>([
  [["a\nb\n"], ["a", "b"]],
  [["a", "b\n", "c"], ["ab"]],
  [["\n\n"], []],
])("the chunks %j contain the lines %j", (pieces, expected) => {
  const lines = new LineReader();
  const found = pieces.flatMap((piece) => lines.push(new TextEncoder().encode(piece)));
  expect(found).toEqual(expected);
});

test("a character can be split between two chunks", () => {
  const bytes = new TextEncoder().encode("€\n");
  const lines = new LineReader();
  expect([...lines.push(bytes.slice(0, 2)), ...lines.push(bytes.slice(2))]).toEqual(["€"]);
});

test.each<[number[], number[] | undefined]>([
  [[], undefined],
  [[5], [1, 5, 5, 5]],
  [
    [9, 1, 2],
    [3, 1, 2, 9],
  ],
  [
    [4, 1, 3, 2],
    [4, 1, 2.5, 4],
  ],
])("the statistics of %j are %j", (durations, expected) => {
  const timing = timingOf(durations);
  const numbers = timing && [timing.count, timing.min, timing.median, timing.max];
  expect(numbers).toEqual(expected);
});

const NAMES: Name[] = [
  { name: "a.Idle", is_activatable: true },
  {
    name: "a.Runs",
    owner: ":1.2",
    is_activatable: true,
    who: { pid: 7, comm: "runner", unit: "runner.service", uid: 0, user: "root" },
  },
  { name: "org.freedesktop.DBus", is_activatable: true, who: { pid: 1 } },
  { name: "a.Unknown", is_activatable: false },
  { name: ":1.2", owner: ":1.2", is_activatable: false, who: { pid: 7, comm: "runner" } },
];

test.each<[string, string[][]]>([
  ["", [["a.Runs", "org.freedesktop.DBus", "a.Unknown"], ["a.Idle"], [":1.2"]]],
  ["RUNNER", [["a.Runs"], [], [":1.2"]]],
  ["a. service", [["a.Runs"], [], []]],
  ["7", [["a.Runs"], [], [":1.2"]]],
  ["(", [[], [], []]],
])("the filter %j leaves %j", (filter, expected) => {
  const groups = groupNames(NAMES, filter);
  expect(groups.map(({ names }) => names.map(({ name }) => name))).toEqual(expected);
});

test("known details of the owner of a name are listed", () => {
  const [idle, runs] = NAMES;
  expect(idle && ownerFacts(idle)).toEqual([]);
  expect(runs && ownerFacts(runs)).toEqual([
    ["connection", ":1.2"],
    ["process", "7"],
    ["program", "runner"],
    ["user", "root (0)"],
    ["unit", "runner.service"],
  ]);
  const path = "/org/freedesktop/DBus/Containers1/c1";
  const container = { path, type: "org.flatpak", name: "org.example.App" };
  expect([
    ownerText(runs?.who),
    ownerText({ exe: "/usr/bin/x" }),
    ownerText(undefined),
    ownerText({ comm: "app", pid: 8, container }),
  ]).toEqual(["runner 7", "x", "", "app 8 [org.example.App]"]);
  const contained = (who: NameOwner) => ownerFacts({ name: ":1.3", is_activatable: false, who });
  expect(contained({ container })).toEqual([["container", "org.example.App (org.flatpak)"]]);
  expect(contained({ container: { path } })).toEqual([["container", path]]);
});

const SIGNAL: WatchedSignal = {
  at_us: 1,
  sender: ":1.2",
  path: "/a",
  interface: "org.freedesktop.DBus.Properties",
  member: "PropertiesChanged",
  arguments: [
    { type: "s", data: "a.I" },
    {
      type: "a{sv}",
      data: [
        ["P", { type: "u", data: 2 }],
        ["New", { type: "s", data: "" }],
      ],
    },
    { type: "as", data: ["Q"] },
  ],
};

const PROPERTY = { type: "u", access: "read", emits_change: "value", annotations: [] } as const;
const INTERFACE = { name: "a.I", methods: [], signals: [], annotations: [] };
const OBJECT: BusObject = {
  service: "a.b",
  path: "/a",
  took_ns: 1,
  children: [],
  interfaces: [
    {
      ...INTERFACE,
      properties: [
        { ...PROPERTY, name: "P", failure: { kind: "silent", sentence: "no answer" } },
        { ...PROPERTY, name: "Q", value: { type: "u", data: 1 } },
      ],
    },
    { ...INTERFACE, name: "a.J", properties: [{ ...PROPERTY, name: "P" }] },
  ],
};

test("a change applies only to its property", () => {
  const changes = changesOf(SIGNAL);
  expect(changes?.invalidated).toEqual(["Q"]);
  const [one, other] = (changes && withChanges(OBJECT, changes).interfaces) ?? [];
  expect(one?.properties).toEqual([
    { ...PROPERTY, name: "P", value: { type: "u", data: 2 } },
    { ...PROPERTY, name: "Q", value: { type: "u", data: 1 } },
  ]);
  expect(other).toEqual(OBJECT.interfaces[1]);
});

test.each<[string, Partial<WatchedSignal>]>([
  ["another signal", { member: "Other" }],
  ["another interface", { interface: "a.I" }],
  ["other types", { arguments: [{ type: "u", data: 1 }] }],
  ["no arguments", { arguments: [] }],
])("%s announces no change", (_, part) => {
  expect(changesOf({ ...SIGNAL, ...part })).toBeUndefined();
});

test("signals are listed newest first and kept while paused", () => {
  const log = new SignalLog();
  const numbers = (): number[] => log.lines.value.map(({ number }) => number);
  log.add([{ signal: SIGNAL }, { lost: { count: 3 } }]);
  expect(numbers()).toEqual([2, 1]);
  log.togglePause();
  log.add([{ signal: SIGNAL }]);
  expect([numbers(), log.unseen.value]).toEqual([[2, 1], 1]);
  log.togglePause();
  expect([numbers(), log.unseen.value]).toEqual([[3, 2, 1], 0]);
  log.add(Array.from({ length: LINES_MAX }, () => ({ signal: SIGNAL })));
  expect(numbers().length).toBe(LINES_MAX);
  log.clear();
  expect(numbers()).toEqual([]);
});

test("well-known annotations are separated from others", () => {
  const traits = traitsOf([
    { name: "org.freedesktop.DBus.Deprecated", value: "true" },
    { name: "org.gtk.GDBus.DocString", value: "says it" },
    { name: "org.freedesktop.DBus.Property.EmitsChangedSignal", value: "false" },
    { name: "a.Other", value: "x" },
  ]);
  expect(traits).toEqual({
    isDeprecated: true,
    isNoReply: false,
    doc: "says it",
    others: [{ name: "a.Other", value: "x" }],
  });
  expect(traitsOf([]).isDeprecated).toBe(false);
});

test("arguments are written in one line", () => {
  expect(argumentsText([])).toBe("");
  expect(
    argumentsText([
      { type: "s", name: "text" },
      { type: "u", name: null },
    ]),
  ).toBe("s text, u");
});
