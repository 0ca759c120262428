// The names of a bus, in the order in which they are looked for.

import type { Name, Who } from "./protocol";

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

/** Who is behind a name, in a few words: `demo-battery 31326`. */
export function whoText(who: Who | undefined): string {
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

function userText(who: Who | undefined): string | undefined {
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
