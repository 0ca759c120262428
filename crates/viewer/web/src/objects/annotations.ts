// What interfaces and their members say of themselves besides.

import type { Annotation, Argument } from "../generated/protocol";

/** What is known by its name, and all else. */
export interface MemberTraits {
  readonly isDeprecated: boolean;
  readonly isNoReply: boolean;
  readonly doc: string;
  readonly others: readonly Annotation[];
}

/** Sorts annotations. */
export function aboutOf(annotations: readonly Annotation[]): MemberTraits {
  const said = (name: string): string | undefined =>
    annotations.find((one) => one.name === name)?.value;
  return {
    isDeprecated: said(DEPRECATED) === "true",
    isNoReply: said(NO_REPLY) === "true",
    doc: DOCS.map(said).find((text) => text !== undefined) ?? "",
    others: annotations.filter(({ name }) => !KNOWN.has(name)),
  };
}

/** Arguments in a line: `s name, u number`. */
export function argumentsText(list: readonly Argument[]): string {
  return list.map(({ type, name }) => [type, name ?? ""].join(" ").trim()).join(", ");
}

const DEPRECATED = "org.freedesktop.DBus.Deprecated";
const NO_REPLY = "org.freedesktop.DBus.Method.NoReply";
const DOCS = ["org.gtk.GDBus.DocString", "org.freedesktop.DBus.DocString"];
const KNOWN: ReadonlySet<string> = new Set([
  DEPRECATED,
  NO_REPLY,
  ...DOCS,
  "org.freedesktop.DBus.Property.EmitsChangedSignal",
]);
