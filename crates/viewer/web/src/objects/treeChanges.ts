// Objects of a service that come and go, as their manager tells.

import type { HeardSignal, Json, Tree, TreeNode } from "../generated/protocol";
import { partitionPoint } from "../model/search";
import { isCommon } from "./objectTree";

/** An object has got interfaces, or lost them. */
export interface TreeChange {
  readonly is: "added" | "removed";
  readonly path: string;
  readonly interfaces: readonly string[];
}

/** What a signal of a manager of objects says; undefined if it says something else. */
export function treeChangeOf({ member, arguments: said }: HeardSignal): TreeChange | undefined {
  const [path, interfaces] = said ?? [];
  if (path?.type !== "o" || interfaces === undefined) return undefined;
  const list = listOf(interfaces.data);
  if (member === "InterfacesAdded" && interfaces.type === "a{sa{sv}}") {
    const names = list.map((pair) => String(listOf(pair)[0]));
    return { is: "added", path: String(path.data), interfaces: names };
  }
  if (member !== "InterfacesRemoved" || interfaces.type !== "as") return undefined;
  return { is: "removed", path: String(path.data), interfaces: list.map(String) };
}

/** The tree after changes, in the order in which they came. */
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

/** Takes interfaces from the object at this place, and it from the tree if it has no others. */
function remove(
  nodes: TreeNode[],
  at: number,
  { path, interfaces = [] }: TreeNode,
  gone: readonly string[],
): void {
  const left = interfaces.filter((name) => !gone.includes(name));
  nodes[at] = { path, interfaces: left };
  for (let place = at; isEmpty(nodes, place); ) {
    const [last] = nodes.splice(place, 1);
    // What was only on the way to it leads nowhere any more.
    place = placeOf(nodes, parentOf(last?.path ?? "/"));
  }
}

/** Whether there is an object that has nothing of its own, and none below it. */
function isEmpty(nodes: readonly TreeNode[], at: number): boolean {
  const node = nodes[at];
  if (node?.interfaces === undefined || node.path === "/") return false;
  const isBelow = nodes[at + 1]?.path.startsWith(`${node.path}/`) ?? false;
  return node.interfaces.every(isCommon) && !isBelow;
}

/** Where an object is, or where it would be: before those below it, which are in the order of their names. */
function placeOf(nodes: readonly TreeNode[], path: string): number {
  // No character of a path comes before the slash.
  return partitionPoint(nodes.length, (place) => (nodes[place]?.path ?? "") < path);
}

function parentOf(path: string): string {
  return path.slice(0, path.lastIndexOf("/")) || "/";
}

function listOf(data: Json): readonly Json[] {
  return Array.isArray(data) ? data : [];
}

/** As many as the program tells of at most. */
const NODES_MAX = 10_000;
