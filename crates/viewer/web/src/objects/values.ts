// Values from a bus, for the tree of values.

import type { Json, TypedValue, Value, ValueType } from "../generated/protocol";
import type { KnownTypes } from "../state/types";
import { bytesText } from "./basic";
import { listOf, typedOf } from "./json";

/** A value for the tree of values, with its name if it has one. */
export function toldValue(
  { type, data }: TypedValue,
  types: KnownTypes,
  name?: string | null,
): Value {
  const read = types.get(type);
  const value = read === undefined ? { type, text: JSON.stringify(data) } : told(read, data, types);
  return name === undefined || name === null || name === "" ? value : { ...value, name };
}

function told({ signature: type, shape }: ValueType, data: Json, types: KnownTypes): Value {
  const inner = (of: ValueType, held: Json): Value => told(of, held, types);
  switch (shape.kind) {
    case "basic":
      return { type, text: String(data) };
    case "bytes":
      return { type, bytes: bytesText(listOf(data).map(Number)).replaceAll(" ", "") };
    case "array":
      return { type, items: listOf(data).map((item) => inner(shape.element, item)) };
    case "structure": {
      const items = listOf(data);
      return { type, items: shape.fields.map((field, at) => inner(field, items[at] ?? null)) };
    }
    case "dictionary": {
      const entry = (pair: Json): [Value, Value] => {
        const [key = null, value = null] = listOf(pair);
        return [inner(shape.key, key), inner(shape.value, value)];
      };
      return { type, entries: listOf(data).map(entry) };
    }
    case "variant":
      return { type, inside: toldValue(typedOf(data) ?? NO_VALUE, types) };
  }
}

/** Stands for a variant that is not one. */
const NO_VALUE: TypedValue = { type: "?", data: null };
