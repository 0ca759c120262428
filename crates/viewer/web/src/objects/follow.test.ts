import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type {
  HeardSignal,
  Name,
  Tree,
  TypedValue,
  WatchEvent,
  Watched,
} from "../generated/protocol";
import type { Hearing } from "./bus";
import { type Listener, Watching } from "./busWatch";
import { Latest } from "./latest";
import { type OwnerChange, ownerChangeOf, withOwner, withTold } from "./names";
import { type TreeChange, treeChangeOf, withTreeChanges } from "./treeChanges";

function signalOf(member: string, said: readonly [string, TypedValue["data"]][]): HeardSignal {
  const values = said.map(([type, data]) => ({ type, data }));
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
  ["a service ends that can be started", { name: "a.Runs", owner: undefined }, ["a.Runs idle"]],
  ["one that cannot", { name: "b.Runs", owner: undefined }, ["b.Runs gone"]],
  ["a connection ends", { name: ":1.10", owner: undefined }, [":1.10 gone"]],
  ["one that is started", { name: "a.Idle", owner: ":1.2" }, ["a.Idle :1.2 7"]],
  ["it has the same owner", { name: "a.Runs", owner: ":1.2" }, []],
  ["it has another owner", { name: "a.Runs", owner: ":1.10" }, ["a.Runs :1.10"]],
])("%s", (_, change, expected) => {
  const after = withOwner(NAMES, change);
  const said = after
    .filter((name) => !NAMES.includes(name))
    .map(({ name, owner, who }) => [name, owner ?? "idle", who?.pid].filter(Boolean).join(" "));
  const gone = NAMES.filter(({ name }) => !after.some((one) => one.name === name));
  expect([...said, ...gone.map(({ name }) => `${name} gone`)]).toEqual(expected);
});

test.each([
  ["a.New", 1],
  ["z.New", 3],
  [":1.3", 4],
  [":1.11", 5],
])("%s comes to place %d", (name, place) => {
  const after = withOwner(NAMES, { name, owner: ":1.2" });
  expect(after.findIndex((one) => one.name === name)).toBe(place);
});

test("who a connection is holds for its names", () => {
  const named = withOwner(NAMES, { name: "a.Idle", owner: ":1.10" });
  const told = { name: ":1.10", owner: ":1.10", is_activatable: false, who: { pid: 9 } };
  expect(withTold(named, told).map(({ who }) => who?.pid)).toEqual([9, 7, 7, 7, 9]);
  const gone = withOwner(named, { name: ":1.10", owner: undefined });
  expect(withTold(gone, told)).toBe(gone);
});

test.each<[string, HeardSignal, OwnerChange | undefined]>([
  [
    "comes",
    signalOf("NameOwnerChanged", [
      ["s", "a.b"],
      ["s", ""],
      ["s", ":1.1"],
    ]),
    { name: "a.b", owner: ":1.1" },
  ],
  [
    "goes",
    signalOf("NameOwnerChanged", [
      ["s", "a.b"],
      ["s", ":1.1"],
      ["s", ""],
    ]),
    { name: "a.b", owner: undefined },
  ],
  ["has other types", signalOf("NameOwnerChanged", [["u", 1]]), undefined],
  ["is another signal", signalOf("NameAcquired", [["s", "a.b"]]), undefined],
])("a name that %s", (_, signal, expected) => {
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
  ["nothing", [], "/ /a /a/b /a/b/c /a0"],
  ["one at the end", [add("/b", "a.I")], "/ /a /a/b /a/b/c /a0 /b"],
  ["one below another", [add("/a/b/c/d", "a.I")], "/ /a /a/b /a/b/c /a/b/c/d /a0"],
  ["another interface", [add("/a0", "a.J"), take("/a0", "a.I")], "/ /a /a/b /a/b/c /a0"],
  ["one interface less", [take("/a/b/c", "a.I")], "/ /a /a/b /a/b/c /a0"],
  ["the way to one that goes goes too", [take("/a/b/c", "a.I", "a.J")], "/ /a /a0"],
  ["one with others below it stays", [take("/a", "a.Manager")], "/ /a /a/b /a/b/c /a0"],
  ["one that comes and goes", [add("/a/x", "a.I"), take("/a/x", "a.I")], "/ /a /a/b /a/b/c /a0"],
  ["one that was never there", [take("/x", "a.I")], "/ /a /a/b /a/b/c /a0"],
])("of the tree: %s", (_, changes, expected) => {
  const { nodes } = withTreeChanges(TREE, changes);
  expect(nodes.map(({ path }) => path).join(" ")).toBe(expected);
});

test("a tree is not larger than the program tells", () => {
  const changes = Array.from({ length: 10_000 }, (_, at) => add(`/x/n${at}`, "a.I"));
  const { nodes, left_out } = withTreeChanges(TREE, changes);
  expect([nodes.length, left_out]).toEqual([10_000, 5]);
});

test.each<[string, HeardSignal, TreeChange | undefined]>([
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
    "says something else",
    signalOf("InterfacesAdded", [
      ["o", "/a"],
      ["as", []],
    ]),
    undefined,
  ],
  ["says nothing", signalOf("InterfacesRemoved", []), undefined],
])("a manager that %s", (_, signal, expected) => {
  expect(treeChangeOf(signal)).toEqual(expected);
});

test("a change that comes before the answer is in it", async () => {
  const latest = new Latest<string>();
  let answer = (_: string): void => {};
  const asked = latest.load(new Promise<string>((done) => (answer = done)));
  latest.change((text) => `${text} changed`);
  answer("first");
  expect(await asked).toBe("first changed");
  await latest.load(Promise.resolve("second"));
  expect(latest.state.value.value).toBe("second");
});

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const NOWHERE: Watched = { service: null, path: null };
const ONE: Watched = { service: "a.b", path: null };
const OTHER: Watched = { service: "a.b", path: "/a" };

/** A stream that says what it is told to, and what came of that. */
async function watching(first: Watched) {
  const lines: WatchEvent[] = [];
  const told: string[] = [];
  const turns: Watched[] = [];
  let more = (): void => {};
  let isEnded = false;
  const hearing: Hearing = {
    async *lines() {
      for (;;) {
        yield* lines.splice(0);
        if (isEnded) return;
        await new Promise<void>((done) => (more = done));
      }
    },
    turn: async (watched) => void turns.push(watched),
  };
  const words = ({ service, path }: Watched): string => [service, path].join(" ").trim();
  const listener: Listener = {
    begun: (watched) => void told.push(`begun ${words(watched)}`.trim()),
    heard: (heard) => void told.push(`heard ${heard.map(({ of }) => of).join(" ")}`),
    unheard: (why) => void told.push(`unheard ${why}`),
  };
  const watching = new Watching(hearing, first, listener);
  const settle = () => vi.advanceTimersByTimeAsync(100);
  await settle();
  const say = async (...said: WatchEvent[]): Promise<void> => {
    lines.push(...said);
    more();
    await settle();
  };
  const end = async (): Promise<void> => {
    isEnded = true;
    await say();
  };
  return { watching, told, turns, say, end };
}

const NOISE: WatchEvent = { heard: { of: "names", what: { lost: { count: 1 } } } };

test("nothing is asked before it is heard", async () => {
  const { watching: one, told, turns, say } = await watching(NOWHERE);
  one.turnTo(ONE);
  one.turnTo(OTHER);
  expect([told, turns]).toEqual([[], []]);
  await say({ begun: NOWHERE });
  expect([told, turns]).toEqual([[], [OTHER]]);
  await say(NOISE, { begun: { service: "a.b", path: "/a" } }, NOISE);
  expect(told).toEqual(["heard names", "begun a.b /a", "heard names"]);
});

test("one turn is waited for before the next", async () => {
  const { watching: one, told, turns, say } = await watching(NOWHERE);
  await say({ begun: NOWHERE });
  one.turnTo(ONE);
  one.turnTo(OTHER);
  expect(turns).toEqual([ONE]);
  await say({ begun: { service: "a.b", path: null } });
  expect([told, turns]).toEqual([["begun"], [ONE, OTHER]]);
});

test("what is not heard can be asked all the same", async () => {
  const { watching: one, told, say, end } = await watching(NOWHERE);
  await end();
  one.turnTo(ONE);
  expect(told.map((text) => text.replace(/ the .*/, ""))).toEqual([
    "unheard",
    "begun",
    "begun a.b",
  ]);
  one.end();
  await say({ begun: NOWHERE });
  expect(told.length).toBe(3);
});
