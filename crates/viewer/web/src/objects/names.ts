// The names on a bus, grouped and sorted for display.

import type { Name, NameOwner, OwnerContainer, WatchedSignal } from "../generated/protocol";

/** The names of one kind. */
export interface NameGroup {
  readonly kind: "services" | "activatable" | "connections";
  readonly title: string;
  readonly names: readonly Name[];
}

/** The names that match all words of a filter, grouped by kind. */
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

/** True if the name has an owner. The bus owns its own name without a connection. */
export function isRunning(name: Name): boolean {
  return name.owner !== undefined || name.who !== undefined;
}

/** A new owner of a name; undefined if the name was released. */
export interface OwnerChange {
  readonly name: string;
  readonly owner: string | undefined;
}

/** Reads the change from a NameOwnerChanged signal; undefined for other signals. */
export function ownerChangeOf({
  member,
  arguments: values,
}: WatchedSignal): OwnerChange | undefined {
  if (member !== "NameOwnerChanged") return undefined;
  const [name, , owner] = values ?? [];
  if (name?.type !== "s" || owner?.type !== "s") return undefined;
  return { name: String(name.data), owner: String(owner.data) || undefined };
}

/** Applies a change of ownership to the names. */
export function withOwner(names: readonly Name[], { name, owner }: OwnerChange): readonly Name[] {
  const known = names.find((one) => one.name === name);
  const is_activatable = known?.is_activatable ?? false;
  if (owner === undefined) {
    return is_activatable ? replaced(names, { name, is_activatable }) : without(names, name);
  }
  if (known?.owner === owner) return names;
  const details = names.find((one) => one.name === owner)?.who;
  return replaced(names, { name, owner, is_activatable, ...(details && { who: details }) });
}

/** Adds the details of a name, unless its owner has changed in the meantime. */
export function withDetails(names: readonly Name[], details: Name): readonly Name[] {
  const known = names.find((one) => one.name === details.name);
  if (known === undefined || known.owner !== details.owner) return names;
  const { who } = details;
  // Details of a connection apply to all names that it owns.
  return names.map((one) => {
    if (one.name === details.name) return details;
    return one.owner === details.name && one.who === undefined && who ? { ...one, who } : one;
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

/** Sorts well-known names alphabetically, followed by unique names in the order of connecting. */
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

/** A short description of the owner of a name: `demo-battery 31326 [org.example.Battery]`. */
export function ownerText(owner: NameOwner | undefined): string {
  if (owner === undefined) return "";
  const program = owner.comm ?? owner.exe?.split("/").at(-1) ?? "";
  const container = owner.container?.name;
  const words = [
    program,
    owner.pid === undefined ? "" : String(owner.pid),
    container ? `[${container}]` : "",
  ];
  return words.filter((word) => word !== "").join(" ");
}

/** All known details about the owner of a name, with labels. */
export function ownerFacts({
  owner,
  who,
}: Name): readonly (readonly [label: string, text: string])[] {
  const facts: [string, string | undefined][] = [
    ["connection", owner],
    ["process", who?.pid?.toString()],
    ["program", who?.exe ?? who?.comm],
    ["command", who?.command === undefined ? undefined : who.command.join(" ")],
    ["user", userText(who)],
    ["unit", who?.unit],
    ["container", containerText(who?.container)],
    ["control group", who?.cgroup],
    ["label", who?.label],
  ];
  return facts.flatMap(([label, text]) =>
    text === undefined || text === "" ? [] : [[label, text]],
  );
}

/** The name and the type of a container: `org.example.App (org.flatpak)`. */
function containerText(container: OwnerContainer | undefined): string | undefined {
  if (container?.type === undefined) return container?.path;
  return container.name ? `${container.name} (${container.type})` : container.type;
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
  texts.push(containerText(who?.container));
  return texts.join("\n").toLowerCase();
}

function hasAll(text: string, words: readonly string[]): boolean {
  return words.every((word) => text.includes(word));
}

const GROUPS = [
  { kind: "services", title: "Services" },
  { kind: "activatable", title: "Activatable" },
  { kind: "connections", title: "Connections" },
] as const;
