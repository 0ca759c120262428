// Annotations of interfaces and their members.

import type { Annotation, Argument } from "../generated/protocol";

/** Properties from well-known annotations, and all other annotations. */
export interface MemberTraits {
  readonly isDeprecated: boolean;
  readonly isNoReply: boolean;
  readonly doc: string;
  readonly others: readonly Annotation[];
}

/** Separates well-known annotations from others. */
export function traitsOf(annotations: readonly Annotation[]): MemberTraits {
  const annotationValue = (name: string): string | undefined =>
    annotations.find((one) => one.name === name)?.value;
  return {
    isDeprecated: annotationValue(DEPRECATED) === "true",
    isNoReply: annotationValue(NO_REPLY) === "true",
    doc: DOCS.map(annotationValue).find((text) => text !== undefined) ?? "",
    others: annotations.filter(({ name }) => !KNOWN.has(name)),
  };
}

/** A list of arguments in one line: `s name, u number`. */
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
