// Values that a bus told, as the tree of values shows them.

import type { Value } from "../details/answer";
import { bytesText } from "./basic";
import type { Json, TypedJson } from "./protocol";
import { readSingle, signatureOf, type Type } from "./types";

/** A value for the tree of values, with its name if it has one. */
export function toldValue({ type, data }: TypedJson, name?: string | null): Value {
  const read = readSingle(type);
  const value = read === undefined ? { type, text: JSON.stringify(data) } : told(read, data);
  return name === undefined || name === null || name === "" ? value : { ...value, name };
}

function told(type: Type, data: Json): Value {
  const signature = signatureOf(type);
  switch (type.kind) {
    case "basic":
      return { type: signature, text: String(data) };
    case "bytes":
      return { type: signature, bytes: bytesText(listOf(data).map(Number)).replaceAll(" ", "") };
    case "array":
      return { type: signature, items: listOf(data).map((item) => told(type.element, item)) };
    case "structure": {
      const items = listOf(data);
      return {
        type: signature,
        items: type.fields.map((field, at) => told(field, items[at] ?? null)),
      };
    }
    case "dictionary":
      return { type: signature, entries: listOf(data).map((pair) => toldEntry(type, pair)) };
    case "variant":
      return { type: signature, inside: toldValue(variantOf(data)) };
  }
}

function toldEntry(type: Type & { kind: "dictionary" }, pair: Json): [Value, Value] {
  const [key = null, value = null] = listOf(pair);
  return [told({ kind: "basic", code: type.key }, key), told(type.value, value)];
}

function variantOf(data: Json): TypedJson {
  const { type, data: held } = (data ?? {}) as { readonly type?: Json; readonly data?: Json };
  return { type: String(type), data: held ?? null };
}

function listOf(data: Json): readonly Json[] {
  return Array.isArray(data) ? data : [];
}
