// Objects that a service adds or removes, from signals of org.freedesktop.DBus.ObjectManager.

import type { Json, Tree, TreeNode, WatchedSignal } from "../generated/protocol";
import { partitionPoint } from "../model/search";
import { isCommon } from "./objectTree";

/** An object gained or lost interfaces. */
export interface TreeChange {
  readonly is: "added" | "removed";
  readonly path: string;
  readonly interfaces: readonly string[];
}

/** Reads the change from a signal of an object manager; undefined for other signals. */
export function treeChangeOf({ member, arguments: values }: WatchedSignal): TreeChange | undefined {
  const [path, interfaces] = values ?? [];
  if (path?.type !== "o" || interfaces === undefined) return undefined;
  const list = listOf(interfaces.data);
  if (member === "InterfacesAdded" && interfaces.type === "a{sa{sv}}") {
    const names = list.map((pair) => String(listOf(pair)[0]));
    return { is: "added", path: String(path.data), interfaces: names };
  }
  if (member !== "InterfacesRemoved" || interfaces.type !== "as") return undefined;
  return { is: "removed", path: String(path.data), interfaces: list.map(String) };
}

/** The tree after these changes, which are in the order in which they arrived. */
export function withTreeChanges(tree: Tree, changes: readonly TreeChange[]): Tree {
  const nodes = [...tree.nodes];
  let left_out = tree.left_out;
  for (const change of changes) {
    const at = placeOf(nodes, change.path);
    const node = nodes[at];
    const known = node?.path === change.path ? node : undefined;
    if (change.is === "removed") {
      if (known !== undefined) remove(nodes, at, known, change.interfaces);
    } else if (known !== undefined) nodes[at] = added(known, change.interfaces);
    else if (nodes.length < NODES_MAX) nodes.splice(at, 0, added(change, change.interfaces));
    else left_out++;
  }
  return { ...tree, nodes, left_out };
}

function added({ path, interfaces = [] }: TreeNode, more: readonly string[]): TreeNode {
  return { path, interfaces: [...new Set([...interfaces, ...more])] };
}

/** Removes interfaces from the object at this index, and the object itself if it has no others. */
function remove(
  nodes: TreeNode[],
  at: number,
  { path, interfaces = [] }: TreeNode,
  removed: readonly string[],
): void {
  const left = interfaces.filter((name) => !removed.includes(name));
  nodes[at] = { path, interfaces: left };
  for (let place = at; isEmpty(nodes, place); ) {
    const [last] = nodes.splice(place, 1);
    // Objects that only led to the removed object are removed, too.
    place = placeOf(nodes, parentOf(last?.path ?? "/"));
  }
}

/** True if the object has no interfaces of its own and no objects below it. */
function isEmpty(nodes: readonly TreeNode[], at: number): boolean {
  const node = nodes[at];
  if (node?.interfaces === undefined || node.path === "/") return false;
  const isBelow = nodes[at + 1]?.path.startsWith(`${node.path}/`) ?? false;
  return node.interfaces.every(isCommon) && !isBelow;
}

/** The index of an object, or the index at which to insert it. Nodes are sorted by path. */
function placeOf(nodes: readonly TreeNode[], path: string): number {
  // The slash is the smallest character of a path, so an object comes directly before its children.
  return partitionPoint(nodes.length, (place) => (nodes[place]?.path ?? "") < path);
}

function parentOf(path: string): string {
  return path.slice(0, path.lastIndexOf("/")) || "/";
}

function listOf(data: Json): readonly Json[] {
  return Array.isArray(data) ? data : [];
}

/** The maximum number of objects, as in the program. */
const NODES_MAX = 10_000;
