// The objects of a service as lines of an expandable tree.

import type { TreeNode } from "../generated/protocol";

/** A line of the tree. */
export interface TreeLine {
  readonly node: TreeNode;
  /** The path relative to the parent line. */
  readonly label: string;
  /** The nesting depth, from 0. */
  readonly depth: number;
  /** The path of the parent line. */
  readonly parent: string | undefined;
  readonly isFoldable: boolean;
  /**
   * True if the object has interfaces of its own or could not be introspected. Other objects only
   * lead to objects below them.
   */
  readonly isOwn: boolean;
}

/** The effect of a key in the tree. */
export type TreeStep =
  | { readonly act: "go"; readonly path: string }
  | { readonly act: "open"; readonly path: string }
  | { readonly act: "fold"; readonly path: string }
  | { readonly act: "unfold"; readonly path: string };

/**
 * All lines of a tree. An object that only leads to one other object is merged into the line of the
 * latter.
 */
export function treeLines(nodes: readonly TreeNode[]): readonly TreeLine[] {
  const children = childCounts(nodes);
  const lines: TreeLine[] = [];
  const above: TreeLine[] = [];
  for (const node of nodes) {
    const { path } = node;
    const isOwn = node.failure !== undefined || !node.interfaces?.every(isCommon);
    const below = children.get(path) ?? 0;
    if (!isOwn && below === 1) continue;
    while (above.length > 0 && !isBelow(path, above.at(-1)?.node.path ?? "")) above.pop();
    const parent = above.at(-1)?.node.path;
    const label = parent === undefined || parent === "/" ? path : path.slice(parent.length + 1);
    const line = { node, label, depth: above.length, parent, isFoldable: below > 0, isOwn };
    lines.push(line);
    above.push(line);
  }
  return lines;
}

/** The visible lines while these paths are collapsed. */
export function seenLines(
  lines: readonly TreeLine[],
  folded: ReadonlySet<string>,
): readonly TreeLine[] {
  const visible: TreeLine[] = [];
  let hiddenBelow: number | undefined;
  for (const line of lines) {
    if (hiddenBelow !== undefined && line.depth > hiddenBelow) continue;
    hiddenBelow = line.isFoldable && folded.has(line.node.path) ? line.depth : undefined;
    visible.push(line);
  }
  return visible;
}

/** The lines that contain a text, and the lines above them. */
export function filteredLines(lines: readonly TreeLine[], filter: string): readonly TreeLine[] {
  const text = filter.trim().toLowerCase();
  if (text === "") return lines;
  const kept = new Set<TreeLine>();
  const above: TreeLine[] = [];
  for (const line of lines) {
    above.length = line.depth;
    above.push(line);
    if (searched(line).includes(text)) for (const one of above) kept.add(one);
  }
  return lines.filter((line) => kept.has(line));
}

/** The object to show first: the first one with interfaces of its own. */
export function firstPath(nodes: readonly TreeNode[]): string | undefined {
  const own = nodes.find(({ interfaces }) => interfaces?.some((name) => !isCommon(name)) ?? false);
  return (own ?? nodes[0])?.path;
}

/** The effect of a key on the line of a path; undefined if it has none. */
export function treeStep(
  lines: readonly TreeLine[],
  folded: ReadonlySet<string>,
  path: string | undefined,
  key: string,
): TreeStep | undefined {
  const at = lines.findIndex(({ node }) => node.path === path);
  const line = lines[at];
  const go = (to: string | undefined): TreeStep | undefined =>
    to === undefined ? undefined : { act: "go", path: to };
  if (!KEYS.has(key)) return undefined;
  if (key === "Home" || line === undefined) return go(lines[0]?.node.path);
  if (key === "End") return go(lines.at(-1)?.node.path);
  if (key === "ArrowDown") return go(lines[at + 1]?.node.path);
  if (key === "ArrowUp") return go(lines[at - 1]?.node.path);
  if (key === "Enter" || key === " ") return { act: "open", path: line.node.path };
  const isFolded = folded.has(line.node.path);
  if (key === "ArrowRight") {
    if (line.isFoldable && isFolded) return { act: "unfold", path: line.node.path };
    return line.isFoldable ? go(lines[at + 1]?.node.path) : undefined;
  }
  return line.isFoldable && !isFolded ? { act: "fold", path: line.node.path } : go(line.parent);
}

/** True for the standard interfaces that every object has. */
export function isCommon(name: string): boolean {
  return COMMON.has(name);
}

function childCounts(nodes: readonly TreeNode[]): ReadonlyMap<string, number> {
  const known = new Set(nodes.map(({ path }) => path));
  const counts = new Map<string, number>();
  for (const { path } of nodes) {
    const parent = parentOf(path, known);
    if (parent !== undefined) counts.set(parent, (counts.get(parent) ?? 0) + 1);
  }
  return counts;
}

/** The nearest known object above a path. */
function parentOf(path: string, known: ReadonlySet<string>): string | undefined {
  for (let parent = path; parent !== "/" && parent !== ""; ) {
    parent = parent.slice(0, parent.lastIndexOf("/")) || "/";
    if (known.has(parent) && parent !== path) return parent;
  }
  return undefined;
}

function isBelow(path: string, above: string): boolean {
  return path.startsWith(above === "/" ? "/" : `${above}/`) && path !== above;
}

function searched({ node }: TreeLine): string {
  return [node.path, ...(node.interfaces ?? [])].join("\n").toLowerCase();
}

const KEYS: ReadonlySet<string> = new Set([
  "ArrowDown",
  "ArrowLeft",
  "ArrowRight",
  "ArrowUp",
  "End",
  "Enter",
  "Home",
  " ",
]);

const COMMON: ReadonlySet<string> = new Set([
  "org.freedesktop.DBus.Introspectable",
  "org.freedesktop.DBus.Peer",
  "org.freedesktop.DBus.Properties",
]);
