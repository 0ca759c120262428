import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type {
  Name,
  Tree,
  TypedValue,
  WatchEvent,
  Watched,
  WatchedSignal,
} from "../generated/protocol";
import type { BusSubscription } from "./bus";
import { BusWatcher, type WatchListener } from "./busWatch";
import { Latest } from "./latest";
import { type OwnerChange, ownerChangeOf, withDetails, withOwner } from "./names";
import { type TreeChange, treeChangeOf, withTreeChanges } from "./treeChanges";

function signalOf(member: string, typed: readonly [string, TypedValue["data"]][]): WatchedSignal {
  const values = typed.map(([type, data]) => ({ type, data }));
  return { at_us: 1, sender: ":1.0", path: "/", interface: "a.I", member, arguments: values };
}

const WHO = { pid: 7 };
const NAMES: readonly Name[] = [
  { name: "a.Idle", is_activatable: true },
  { name: "a.Runs", owner: ":1.2", is_activatable: true, who: WHO },
  { name: "b.Runs", owner: ":1.2", is_activatable: false, who: WHO },
  { name: ":1.2", owner: ":1.2", is_activatable: false, who: WHO },
  { name: ":1.10", owner: ":1.10", is_activatable: false },
];

test.each<[string, OwnerChange, readonly string[]]>([
  ["an activatable service ends", { name: "a.Runs", owner: undefined }, ["a.Runs idle"]],
  ["another service ends", { name: "b.Runs", owner: undefined }, ["b.Runs gone"]],
  ["a connection ends", { name: ":1.10", owner: undefined }, [":1.10 gone"]],
  ["a service is started", { name: "a.Idle", owner: ":1.2" }, ["a.Idle :1.2 7"]],
  ["the owner is the same", { name: "a.Runs", owner: ":1.2" }, []],
  ["the owner is another connection", { name: "a.Runs", owner: ":1.10" }, ["a.Runs :1.10"]],
])("names after a change: %s", (_, change, expected) => {
  const after = withOwner(NAMES, change);
  const changed = after
    .filter((name) => !NAMES.includes(name))
    .map(({ name, owner, who }) => [name, owner ?? "idle", who?.pid].filter(Boolean).join(" "));
  const removed = NAMES.filter(({ name }) => !after.some((one) => one.name === name));
  expect([...changed, ...removed.map(({ name }) => `${name} gone`)]).toEqual(expected);
});

test.each([
  ["a.New", 1],
  ["z.New", 3],
  [":1.3", 4],
  [":1.11", 5],
])("%s is inserted at index %d", (name, place) => {
  const after = withOwner(NAMES, { name, owner: ":1.2" });
  expect(after.findIndex((one) => one.name === name)).toBe(place);
});

test("details of a connection apply to all of its names", () => {
  const named = withOwner(NAMES, { name: "a.Idle", owner: ":1.10" });
  const details = { name: ":1.10", owner: ":1.10", is_activatable: false, who: { pid: 9 } };
  expect(withDetails(named, details).map(({ who }) => who?.pid)).toEqual([9, 7, 7, 7, 9]);
  const gone = withOwner(named, { name: ":1.10", owner: undefined });
  expect(withDetails(gone, details)).toBe(gone);
});

test.each<[string, WatchedSignal, OwnerChange | undefined]>([
  [
    "is acquired",
    signalOf("NameOwnerChanged", [
      ["s", "a.b"],
      ["s", ""],
      ["s", ":1.1"],
    ]),
    { name: "a.b", owner: ":1.1" },
  ],
  [
    "is released",
    signalOf("NameOwnerChanged", [
      ["s", "a.b"],
      ["s", ":1.1"],
      ["s", ""],
    ]),
    { name: "a.b", owner: undefined },
  ],
  ["has other types", signalOf("NameOwnerChanged", [["u", 1]]), undefined],
  ["is another signal", signalOf("NameAcquired", [["s", "a.b"]]), undefined],
])("owner change of a name that %s", (_, signal, expected) => {
  expect(ownerChangeOf(signal)).toEqual(expected);
});

const TREE: Tree = {
  service: "a.b",
  left_out: 0,
  took_ns: 1,
  nodes: [
    { path: "/", interfaces: [] },
    { path: "/a", interfaces: ["a.Manager"] },
    { path: "/a/b", interfaces: ["org.freedesktop.DBus.Peer"] },
    { path: "/a/b/c", interfaces: ["a.I", "a.J"] },
    { path: "/a0", interfaces: ["a.I"] },
  ],
};

const add = (path: string, ...interfaces: string[]): TreeChange => ({
  is: "added",
  path,
  interfaces,
});
const take = (path: string, ...interfaces: string[]): TreeChange => ({
  is: "removed",
  path,
  interfaces,
});

test.each<[string, TreeChange[], string]>([
  ["no change", [], "/ /a /a/b /a/b/c /a0"],
  ["an object at the end", [add("/b", "a.I")], "/ /a /a/b /a/b/c /a0 /b"],
  ["an object below another", [add("/a/b/c/d", "a.I")], "/ /a /a/b /a/b/c /a/b/c/d /a0"],
  ["another interface", [add("/a0", "a.J"), take("/a0", "a.I")], "/ /a /a/b /a/b/c /a0"],
  ["one interface less", [take("/a/b/c", "a.I")], "/ /a /a/b /a/b/c /a0"],
  [
    "objects that only lead to a removed one are removed",
    [take("/a/b/c", "a.I", "a.J")],
    "/ /a /a0",
  ],
  ["an object with children stays", [take("/a", "a.Manager")], "/ /a /a/b /a/b/c /a0"],
  [
    "an object that is added and removed",
    [add("/a/x", "a.I"), take("/a/x", "a.I")],
    "/ /a /a/b /a/b/c /a0",
  ],
  ["an unknown object is removed", [take("/x", "a.I")], "/ /a /a/b /a/b/c /a0"],
])("tree after changes: %s", (_, changes, expected) => {
  const { nodes } = withTreeChanges(TREE, changes);
  expect(nodes.map(({ path }) => path).join(" ")).toBe(expected);
});

test("a tree is limited to the maximum of the program", () => {
  const changes = Array.from({ length: 10_000 }, (_, at) => add(`/x/n${at}`, "a.I"));
  const { nodes, left_out } = withTreeChanges(TREE, changes);
  expect([nodes.length, left_out]).toEqual([10_000, 5]);
});

test.each<[string, WatchedSignal, TreeChange | undefined]>([
  [
    "adds",
    signalOf("InterfacesAdded", [
      ["o", "/a"],
      ["a{sa{sv}}", [["a.I", []]]],
    ]),
    add("/a", "a.I"),
  ],
  [
    "removes",
    signalOf("InterfacesRemoved", [
      ["o", "/a"],
      ["as", ["a.I"]],
    ]),
    take("/a", "a.I"),
  ],
  [
    "has other types",
    signalOf("InterfacesAdded", [
      ["o", "/a"],
      ["as", []],
    ]),
    undefined,
  ],
  ["has no arguments", signalOf("InterfacesRemoved", []), undefined],
])("tree change of a manager that %s", (_, signal, expected) => {
  expect(treeChangeOf(signal)).toEqual(expected);
});

test("a change before the answer is applied to it", async () => {
  const latest = new Latest<string>();
  let answer = (_: string): void => {};
  const loaded = latest.load(new Promise<string>((done) => (answer = done)));
  latest.change((text) => `${text} changed`);
  answer("first");
  expect(await loaded).toBe("first changed");
  await latest.load(Promise.resolve("second"));
  expect(latest.state.value.value).toBe("second");
});

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const NOWHERE: Watched = { service: null, path: null };
const ONE: Watched = { service: "a.b", path: null };
const OTHER: Watched = { service: "a.b", path: "/a" };

/** A watcher with a stream under the test's control. It records the callbacks and scope changes. */
async function watcherFor(first: Watched) {
  const lines: WatchEvent[] = [];
  const calls: string[] = [];
  const changes: Watched[] = [];
  let more = (): void => {};
  let isEnded = false;
  const subscription: BusSubscription = {
    async *lines() {
      for (;;) {
        yield* lines.splice(0);
        if (isEnded) return;
        await new Promise<void>((done) => (more = done));
      }
    },
    change: async (watched) => void changes.push(watched),
  };
  const words = ({ service, path }: Watched): string => [service, path].join(" ").trim();
  const listener: WatchListener = {
    onBegin: (watched) => void calls.push(`begun ${words(watched)}`.trim()),
    onEvents: (events) => void calls.push(`events ${events.map(({ of }) => of).join(" ")}`),
    onFailure: (reason) => void calls.push(`failure ${reason}`),
  };
  const watcher = new BusWatcher(subscription, first, listener);
  const settle = () => vi.advanceTimersByTimeAsync(100);
  await settle();
  const say = async (...events: WatchEvent[]): Promise<void> => {
    lines.push(...events);
    more();
    await settle();
  };
  const end = async (): Promise<void> => {
    isEnded = true;
    await say();
  };
  return { watcher, calls, changes, say, end };
}

const NOISE: WatchEvent = { heard: { of: "names", what: { lost: { count: 1 } } } };

test("requests wait for the begin of the watch", async () => {
  const { watcher, calls, changes, say } = await watcherFor(NOWHERE);
  watcher.changeTo(ONE);
  watcher.changeTo(OTHER);
  expect([calls, changes]).toEqual([[], []]);
  await say({ begun: NOWHERE });
  expect([calls, changes]).toEqual([[], [OTHER]]);
  await say(NOISE, { begun: { service: "a.b", path: "/a" } }, NOISE);
  expect(calls).toEqual(["events names", "begun a.b /a", "events names"]);
});

test("scope changes are requested one at a time", async () => {
  const { watcher, calls, changes, say } = await watcherFor(NOWHERE);
  await say({ begun: NOWHERE });
  watcher.changeTo(ONE);
  watcher.changeTo(OTHER);
  expect(changes).toEqual([ONE]);
  await say({ begun: { service: "a.b", path: null } });
  expect([calls, changes]).toEqual([["begun"], [ONE, OTHER]]);
});

test("requests are possible after the watch ends", async () => {
  const { watcher, calls, say, end } = await watcherFor(NOWHERE);
  await end();
  watcher.changeTo(ONE);
  expect(calls.map((text) => text.replace(/(?<=failure) .*/, ""))).toEqual([
    "failure",
    "begun",
    "begun a.b",
  ]);
  watcher.end();
  await say({ begun: NOWHERE });
  expect(calls.length).toBe(3);
});
