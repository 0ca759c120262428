import { expect, test } from "vitest";
import { call, peer, recordingOf, signal } from "../sequence/model/sample";
import { hueOf } from "./hue";
import {
  inverted,
  Messages,
  ServiceTraffic,
  sectionsOf,
  servicesOf,
  tickOf,
  toggled,
  type Visibility,
} from "./services";

const PEERS = [
  peer(0, { unique: "org.freedesktop.DBus", label: "org.freedesktop.DBus" }),
  peer(1, { names: ["org.example.Mail"] }),
  peer(2, { names: ["org.example.Archive"] }),
  peer(3, { recorder: true }),
  ...[...Array(9).keys()].map((id) => peer(10 + id)),
];

function services(): ReturnType<typeof servicesOf> {
  const unnamed = [...Array(9).keys()].map((id) => call(1, 10 + id, 1, "Get"));
  const samples = [signal(0, 1, "Changed"), call(0, 2, 2, "Ping"), signal(0, 0, "NameAcquired")];
  const traffic = new ServiceTraffic(
    recordingOf([...samples, ...unnamed, call(2, 3, 1, "Get")], PEERS),
  );
  traffic.count();
  traffic.count();
  return servicesOf(traffic, "connection");
}

test("messages count once for each peer, and recorders are left out", () => {
  const counts = services().map(({ label, messages }) => [label, messages]);
  expect(counts.slice(0, 4)).toEqual([
    ["org.freedesktop.DBus", 1],
    ["org.example.Mail", 11],
    ["org.example.Archive", 1],
    [":1.10", 1],
  ]);
});

test("displayed messages of several connections are added", () => {
  const recording = recordingOf([call(0, 1, 2, "Get"), call(1, 1, 1, "Get")], PEERS);
  const messages = new Messages();
  messages.add(recording, 0);
  messages.add(recording, 1);
  expect([1, 2, 3].map((id) => messages.of(id))).toEqual([2, 1, 0]);
  expect(messages.ofAll([peer(1), peer(2), peer(3)])).toBe(3);
});

test.each([
  ["", "traffic", ["org.freedesktop.DBus", "org.example.Mail", "org.example.Archive"], 9],
  ["", "name", ["org.freedesktop.DBus", "org.example.Archive", "org.example.Mail"], 9],
  ["arch", "name", ["org.example.Archive"], 0],
  [":1.12", "name", [":1.12"], 0],
] as const)("'%s' sorted by %s lists %o and %d others", (wanted, sorting, expected, others) => {
  const [section] = sectionsOf(services(), wanted, sorting);
  expect(section?.services.map(({ label }) => label)).toEqual(expected);
  expect(section?.others.length).toBe(others);
});

test("an unknown name matches no service", () => {
  expect(sectionsOf(services(), "nobody", "name")).toEqual([]);
});

const TWO = [peer(1), peer(2)];

test.each<[number[], Visibility, number[]]>([
  [[], "shown", [1, 2]],
  [[1], "mixed", []],
  [[1, 2], "hidden", []],
  [[7], "shown", [7, 1, 2]],
])("with %o hidden two are %s, and ticking leaves %o", (hidden, tick, after) => {
  expect(tickOf(TWO, new Set(hidden))).toBe(tick);
  expect([...toggled(TWO, new Set(hidden))]).toEqual(after);
});

test("inverting exchanges hidden and visible connections", () => {
  expect([...inverted(TWO, new Set([1]))]).toEqual([2]);
});

test("a name always has the same hue, and similar names differ", () => {
  expect(hueOf("org.example.Mail")).toBe(hueOf("org.example.Mail"));
  expect(hueOf("org.example.Mail")).not.toBe(hueOf("org.example.Maim"));
});
