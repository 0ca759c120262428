import { expect, test } from "vitest";
import type { TreeNode } from "../generated/protocol";
import { filteredLines, firstPath, seenLines, treeLines, treeStep } from "./objectTree";

const COMMON = ["org.freedesktop.DBus.Introspectable", "org.freedesktop.DBus.Peer"];

function nodes(...paths: string[]): TreeNode[] {
  return paths.map((path) =>
    path.endsWith("!")
      ? { path: path.slice(0, -1), failure: { kind: "silent", sentence: "no answer" } }
      : path.endsWith("*")
        ? { path: path.slice(0, -1), interfaces: [...COMMON, "a.Own"] }
        : { path, interfaces: COMMON },
  );
}

const shape = (found: TreeNode[]): string[] =>
  treeLines(found).map(
    ({ depth, label, isFoldable }) => `${depth} ${label}${isFoldable ? " +" : ""}`,
  );

test.each<[string[], string[]]>([
  [[], []],
  [["/"], ["0 /"]],
  [["/", "/com", "/com/a*"], ["0 /com/a"]],
  [
    ["/*", "/com", "/com/a*"],
    ["0 / +", "1 /com/a"],
  ],
  [
    ["/", "/com", "/com/a*", "/com/a/b*"],
    ["0 /com/a +", "1 b"],
  ],
  [
    ["/", "/a*", "/b!"],
    ["0 / +", "1 /a", "1 /b"],
  ],
  [
    ["/", "/a", "/a/b*", "/ab*"],
    ["0 / +", "1 /a/b", "1 /ab"],
  ],
  // An object that reports a distant descendant, and a child name that is not a path element.
  [
    ["/a*", "/a/b/c*", "/a/\u202e!"],
    ["0 /a +", "1 b/c", "1 \u202e"],
  ],
])("the lines of %j are %j", (paths, expected) => {
  expect(shape(nodes(...paths))).toEqual(expected);
});

test("trees of ten thousand objects have all lines", () => {
  const paths = Array.from({ length: 10_000 }, (_, number) => `/a/v${number}*`);
  expect(treeLines(nodes("/", "/a*", ...paths)).length).toBe(10_001);
});

const LINES = treeLines(nodes("/*", "/a*", "/a/b*", "/a/b/c*", "/d*"));
const paths = (lines: typeof LINES): string[] => lines.map(({ node }) => node.path);

test.each<[string[], string[]]>([
  [[], ["/", "/a", "/a/b", "/a/b/c", "/d"]],
  [["/a/b"], ["/", "/a", "/a/b", "/d"]],
  [
    ["/a", "/a/b"],
    ["/", "/a", "/d"],
  ],
  [["/"], ["/"]],
  [
    ["/d", "/gone"],
    ["/", "/a", "/a/b", "/a/b/c", "/d"],
  ],
])("while %j are collapsed %j are visible", (folded, expected) => {
  expect(paths(seenLines(LINES, new Set(folded)))).toEqual(expected);
});

test.each<[string, string[]]>([
  ["", ["/", "/a", "/a/b", "/a/b/c", "/d"]],
  ["B/C", ["/", "/a", "/a/b", "/a/b/c"]],
  ["a.own", ["/", "/a", "/a/b", "/a/b/c", "/d"]],
  ["nothing", []],
])("the filter %j leaves %j", (filter, expected) => {
  expect(paths(filteredLines(LINES, filter))).toEqual(expected);
});

test.each<[string, string | undefined, string[], string]>([
  ["ArrowDown", "/a", [], "go /a/b"],
  ["ArrowDown", "/a", ["/a"], "go /d"],
  ["ArrowDown", "/d", [], ""],
  ["ArrowDown", undefined, [], "go /"],
  ["ArrowUp", "/d", [], "go /a/b/c"],
  ["ArrowUp", "/", [], ""],
  ["ArrowRight", "/a", ["/a"], "unfold /a"],
  ["ArrowRight", "/a", [], "go /a/b"],
  ["ArrowRight", "/d", [], ""],
  ["ArrowLeft", "/a", [], "fold /a"],
  ["ArrowLeft", "/a", ["/a"], "go /"],
  ["ArrowLeft", "/a/b/c", [], "go /a/b"],
  ["Home", "/d", [], "go /"],
  ["End", "/", [], "go /d"],
  ["Enter", "/a", [], "open /a"],
  [" ", "/d", [], "open /d"],
  ["Enter", undefined, [], "go /"],
  ["x", "/a", [], ""],
  ["/", undefined, [], ""],
])("%s at %s with %j collapsed does %j", (key, path, folded, expected) => {
  const set = new Set(folded);
  const step = treeStep(seenLines(LINES, set), set, path, key);
  expect(step === undefined ? "" : `${step.act} ${step.path}`).toBe(expected);
});

test.each<[string[], string | undefined]>([
  [[], undefined],
  [["/"], "/"],
  [["/", "/a*", "/b*"], "/a"],
  [["/!"], "/"],
])("in %j the first object is %s", (found, expected) => {
  expect(firstPath(nodes(...found))).toBe(expected);
});
