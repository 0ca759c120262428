// The model of forms for D-Bus values, and their conversion to JSON.

import type { BasicCode, Json, ValueType } from "../generated/protocol";
import type { KnownTypes } from "../state/types";
import { bytesText, type Read, readBasic, readBytes, type TextCode } from "./basic";
import { listOf, typedOf } from "./json";

/** A form control and its content. */
export type FormField =
  | { readonly kind: "text"; readonly code: TextCode; readonly text: string }
  | { readonly kind: "flag"; readonly isOn: boolean }
  | { readonly kind: "bytes"; readonly text: string }
  | { readonly kind: "array"; readonly element: ValueType; readonly items: readonly FormField[] }
  | {
      readonly kind: "dictionary";
      readonly key: ValueType;
      readonly value: ValueType;
      readonly entries: readonly Entry[];
    }
  | { readonly kind: "structure"; readonly fields: readonly FormField[] }
  /** `inside` is undefined while `type` is not a complete type. */
  | { readonly kind: "variant"; readonly type: string; readonly inside: FormField | undefined };

/** A key of a dictionary and its value. */
export interface Entry {
  readonly key: FormField;
  readonly value: FormField;
}

/** An empty control for a value of this type. */
export function emptyField({ shape }: ValueType): FormField {
  switch (shape.kind) {
    case "basic":
      return basicField(shape.code);
    case "bytes":
      return { kind: "bytes", text: "" };
    case "array":
      return { ...shape, items: [] };
    case "dictionary":
      return { ...shape, entries: [] };
    case "structure":
      return { kind: "structure", fields: shape.fields.map(emptyField) };
    case "variant":
      return EMPTY_VARIANT;
  }
}

/** A control that contains a value, such as a value from the bus. */
export function fieldOf({ shape }: ValueType, data: Json, types: KnownTypes): FormField {
  const inner = (of: ValueType, held: Json): FormField => fieldOf(of, held, types);
  switch (shape.kind) {
    case "basic":
      if (shape.code === "b") return { kind: "flag", isOn: data === true };
      return { kind: "text", code: shape.code, text: String(data) };
    case "bytes":
      return { kind: "bytes", text: bytesText(listOf(data).map(Number)) };
    case "array":
      return { ...shape, items: listOf(data).map((item) => inner(shape.element, item)) };
    case "dictionary": {
      const entryOf = (pair: Json): Entry => {
        const [key = null, value = null] = listOf(pair);
        return { key: inner(shape.key, key), value: inner(shape.value, value) };
      };
      return { ...shape, entries: listOf(data).map(entryOf) };
    }
    case "structure": {
      const items = listOf(data);
      const fields = shape.fields.map((held, at) => inner(held, items[at] ?? null));
      return { kind: "structure", fields };
    }
    case "variant": {
      const held = typedOf(data);
      const type = held === undefined ? undefined : types.get(held.type);
      if (held === undefined || type === undefined) return EMPTY_VARIANT;
      return { kind: "variant", type: held.type, inside: inner(type, held.data) };
    }
  }
}

/** A control for a variant. `type` is undefined if the text is not known to be a type. */
export function variantField(text: string, type: ValueType | undefined): FormField {
  return { kind: "variant", type: text, inside: type === undefined ? undefined : emptyField(type) };
}

/** Adds an empty element at the end of an array or a dictionary. */
export function withOneMore(field: FormField): FormField {
  if (field.kind === "array") {
    return { ...field, items: [...field.items, emptyField(field.element)] };
  }
  if (field.kind !== "dictionary") return field;
  const entry = { key: emptyField(field.key), value: emptyField(field.value) };
  return { ...field, entries: [...field.entries, entry] };
}

/** The content of a control as JSON, or its first problem. */
export function readField(field: FormField): Read {
  switch (field.kind) {
    case "text":
      return readBasic(field.code, field.text);
    case "flag":
      return { value: field.isOn };
    case "bytes":
      return readBytes(field.text);
    case "array":
      return readFields(field.items);
    case "structure":
      return readFields(field.fields);
    case "dictionary":
      return readEntries(field.entries);
    case "variant":
      return readVariant(field.type, field.inside);
  }
}

/** The content of several controls as JSON, or the first problem. */
export function readFields(fields: readonly FormField[]): Read<Json[]> {
  const values: Json[] = [];
  for (const field of fields) {
    const read = readField(field);
    if ("problem" in read) return read;
    values.push(read.value);
  }
  return { value: values };
}

/** The problem of a control itself, without the problems of controls inside of it. */
export function problemOf(field: FormField): string | undefined {
  if (field.kind === "dictionary")
    return hasDuplicateKeys(field.entries) ? DUPLICATE_KEY : undefined;
  if (field.kind === "variant") return field.inside === undefined ? NO_TYPE : undefined;
  if (field.kind !== "text" && field.kind !== "bytes") return undefined;
  const read = readField(field);
  return "problem" in read ? read.problem : undefined;
}

/** A copy of a list with one element replaced, or removed if `item` is undefined. */
export function replaced<T>(list: readonly T[], place: number, item: T | undefined): readonly T[] {
  return list.flatMap((held, at) => (at !== place ? [held] : item === undefined ? [] : [item]));
}

function basicField(code: BasicCode): FormField {
  if (code === "b") return { kind: "flag", isOn: false };
  return { kind: "text", code, text: code === "o" ? "/" : "" };
}

function readEntries(entries: readonly Entry[]): Read {
  if (hasDuplicateKeys(entries)) return { problem: DUPLICATE_KEY };
  const pairs: Json[] = [];
  for (const { key, value } of entries) {
    const pair = readFields([key, value]);
    if ("problem" in pair) return pair;
    pairs.push(pair.value);
  }
  return { value: pairs };
}

function readVariant(type: string, inside: FormField | undefined): Read {
  if (inside === undefined) return { problem: NO_TYPE };
  const read = readField(inside);
  return "problem" in read ? read : { value: { type, data: read.value } };
}

/** True if two keys have the same value, even if they are written differently. */
function hasDuplicateKeys(entries: readonly Entry[]): boolean {
  const keys = entries.flatMap(({ key }) => {
    const read = readField(key);
    return "value" in read ? [JSON.stringify(read.value)] : [];
  });
  return new Set(keys).size < keys.length;
}

/** A variant initially contains a string, the most common type. */
const EMPTY_VARIANT: FormField = {
  kind: "variant",
  type: "s",
  inside: { kind: "text", code: "s", text: "" },
};

const DUPLICATE_KEY = "Duplicate key";
const NO_TYPE = "Not a single type, such as s, u or a{sv}";
