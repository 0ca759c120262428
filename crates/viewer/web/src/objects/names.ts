// The names of a bus, in the order in which they are looked for.

import type { HeardSignal, Name, NameOwner } from "../generated/protocol";

/** Names of one kind. */
export interface NameGroup {
  readonly kind: "services" | "activatable" | "connections";
  readonly title: string;
  readonly names: readonly Name[];
}

/** The names in which all words of a filter are, by kind. */
export function groupNames(names: readonly Name[], filter: string): readonly NameGroup[] {
  const words = filter
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== "");
  const found = names.filter((name) => hasAll(searched(name), words));
  return GROUPS.map(({ kind, title }) => ({
    kind,
    title,
    names: found.filter((name) => kindOf(name) === kind),
  }));
}

/** Whether somebody has the name; the bus has its own without a connection. */
export function isRunning(name: Name): boolean {
  return name.owner !== undefined || name.who !== undefined;
}

/** A name has another owner, or none. */
export interface OwnerChange {
  readonly name: string;
  readonly owner: string | undefined;
}

/** What a signal of the bus says of the owner of a name; undefined if it is about something else. */
export function ownerChangeOf({ member, arguments: said }: HeardSignal): OwnerChange | undefined {
  if (member !== "NameOwnerChanged") return undefined;
  const [name, , owner] = said ?? [];
  if (name?.type !== "s" || owner?.type !== "s") return undefined;
  return { name: String(name.data), owner: String(owner.data) || undefined };
}

/** The names with another owner of one of them. */
export function withOwner(names: readonly Name[], { name, owner }: OwnerChange): readonly Name[] {
  const known = names.find((one) => one.name === name);
  const is_activatable = known?.is_activatable ?? false;
  if (owner === undefined) {
    return is_activatable ? replaced(names, { name, is_activatable }) : without(names, name);
  }
  if (known?.owner === owner) return names;
  const who = names.find((one) => one.name === owner)?.who;
  return replaced(names, { name, owner, is_activatable, ...(who && { who }) });
}

/** The names with what was told of one of them, if it has not gone meanwhile. */
export function withTold(names: readonly Name[], told: Name): readonly Name[] {
  const known = names.find((one) => one.name === told.name);
  if (known === undefined || known.owner !== told.owner) return names;
  const { who } = told;
  // What is known of a connection holds for all names that it has.
  return names.map((one) => {
    if (one.name === told.name) return told;
    return one.owner === told.name && one.who === undefined && who ? { ...one, who } : one;
  });
}

function replaced(names: readonly Name[], name: Name): readonly Name[] {
  const at = names.findIndex((one) => one.name === name.name);
  if (at >= 0) return names.with(at, name);
  const place = names.findIndex((one) => isBefore(name.name, one.name));
  return names.toSpliced(place < 0 ? names.length : place, 0, name);
}

function without(names: readonly Name[], name: string): readonly Name[] {
  return names.filter((one) => one.name !== name);
}

/** Services come in the order of the alphabet, then connections in the order in which they came. */
function isBefore(one: string, other: string): boolean {
  if (!one.startsWith(":") || !other.startsWith(":")) {
    return one.startsWith(":") === other.startsWith(":") ? one < other : other.startsWith(":");
  }
  const [first = 0, second = 0] = numbersOf(one);
  const [otherFirst = 0, otherSecond = 0] = numbersOf(other);
  return first === otherFirst ? second < otherSecond : first < otherFirst;
}

function numbersOf(unique: string): readonly number[] {
  return unique.slice(1).split(".").map(Number);
}

/** NameOwner is behind a name, in a few words: `demo-battery 31326`. */
export function whoText(who: NameOwner | undefined): string {
  if (who === undefined) return "";
  const program = who.comm ?? who.exe?.split("/").at(-1) ?? "";
  const words = [program, who.pid === undefined ? "" : String(who.pid)];
  return words.filter((word) => word !== "").join(" ");
}

/** All that is known of who is behind a name, with a word for each. */
export function whoFacts({ owner, who }: Name): readonly (readonly [what: string, text: string])[] {
  const facts: [string, string | undefined][] = [
    ["connection", owner],
    ["process", who?.pid?.toString()],
    ["program", who?.exe ?? who?.comm],
    ["command", who?.command === undefined ? undefined : who.command.join(" ")],
    ["user", userText(who)],
    ["unit", who?.unit],
    ["control group", who?.cgroup],
    ["label", who?.label],
  ];
  return facts.flatMap(([what, text]) => (text === undefined || text === "" ? [] : [[what, text]]));
}

function userText(who: NameOwner | undefined): string | undefined {
  if (who?.user === undefined) return who?.uid?.toString();
  return who.uid === undefined ? who.user : `${who.user} (${who.uid})`;
}

function kindOf(name: Name): NameGroup["kind"] {
  if (name.name.startsWith(":")) return "connections";
  return isRunning(name) || !name.is_activatable ? "services" : "activatable";
}

function searched(name: Name): string {
  const { who } = name;
  const texts = [name.name, name.owner, who?.comm, who?.exe, who?.pid, who?.user, who?.unit];
  return texts.join("\n").toLowerCase();
}

function hasAll(text: string, words: readonly string[]): boolean {
  return words.every((word) => text.includes(word));
}

const GROUPS = [
  { kind: "services", title: "Services" },
  { kind: "activatable", title: "Can be started" },
  { kind: "connections", title: "Connections" },
] as const;
