// JSON for D-Bus values. The encoding is documented in crates/notation/src/json/mod.rs.

import { isObject } from "../format/check";
import type { Json, TypedValue } from "../generated/protocol";

/** The elements of a list; empty for any other value. */
export function listOf(data: Json | undefined): readonly Json[] {
  return isList(data) ? data : [];
}

/** The content of a variant; undefined if the value is not a variant. */
export function typedOf(variant: Json): TypedValue | undefined {
  if (isList(variant) || !isObject(variant)) return undefined;
  const { type, data } = variant;
  return typeof type === "string" && data !== undefined ? { type, data } : undefined;
}

function isList(data: Json | undefined): data is readonly Json[] {
  return Array.isArray(data);
}
