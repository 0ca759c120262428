// Conversion of values from the bus for the tree of values.

import type { Json, TypedValue, Value, ValueType } from "../generated/protocol";
import type { KnownTypes } from "../state/types";
import { bytesText } from "./basic";
import { listOf, typedOf } from "./json";

/** Converts a value for display, with its name if it has one. */
export function displayValue(
  { type, data }: TypedValue,
  types: KnownTypes,
  name?: string | null,
): Value {
  const read = types.get(type);
  const value =
    read === undefined ? { type, text: JSON.stringify(data) } : convert(read, data, types);
  return name === undefined || name === null || name === "" ? value : { ...value, name };
}

function convert({ signature: type, shape }: ValueType, data: Json, types: KnownTypes): Value {
  const inner = (of: ValueType, held: Json): Value => convert(of, held, types);
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
      return { type, inside: displayValue(typedOf(data) ?? NO_VALUE, types) };
  }
}

/** Stands for a variant that is malformed. */
const NO_VALUE: TypedValue = { type: "?", data: null };
