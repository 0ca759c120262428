// What is typed for values of D-Bus, and the JSON that is sent for it.

import { bytesText, type Read, readBasic, readBytes, type TextCode } from "./basic";
import type { Json } from "./protocol";
import { type BasicCode, readSingle, type Type } from "./types";

/** A control for a value, with what is in it. */
export type Field =
  | { readonly kind: "text"; readonly code: TextCode; readonly text: string }
  | { readonly kind: "flag"; readonly isOn: boolean }
  | { readonly kind: "bytes"; readonly text: string }
  | { readonly kind: "array"; readonly element: Type; readonly items: readonly Field[] }
  | {
      readonly kind: "dictionary";
      readonly key: BasicCode;
      readonly value: Type;
      readonly entries: readonly Entry[];
    }
  | { readonly kind: "structure"; readonly fields: readonly Field[] }
  /** `inside` is of the type that is written, if that is one. */
  | { readonly kind: "variant"; readonly type: string; readonly inside: Field | undefined };

/** A key and its value. */
export interface Entry {
  readonly key: Field;
  readonly value: Field;
}

/** An empty control for a value of a type. */
export function emptyField(type: Type): Field {
  switch (type.kind) {
    case "basic":
      return basicField(type.code);
    case "bytes":
      return { kind: "bytes", text: "" };
    case "array":
      return { kind: "array", element: type.element, items: [] };
    case "dictionary":
      return { kind: "dictionary", key: type.key, value: type.value, entries: [] };
    case "structure":
      return { kind: "structure", fields: type.fields.map(emptyField) };
    case "variant":
      return variantField("s");
  }
}

/** A control with a value in it, as one that was told before. */
export function fieldOf(type: Type, data: Json): Field {
  switch (type.kind) {
    case "basic":
      if (type.code === "b") return { kind: "flag", isOn: data === true };
      return { kind: "text", code: type.code, text: String(data) };
    case "bytes":
      return { kind: "bytes", text: bytesText(listOf(data).map(Number)) };
    case "array":
      return { ...type, items: listOf(data).map((item) => fieldOf(type.element, item)) };
    case "dictionary":
      return { ...type, entries: listOf(data).map((pair) => entryOf(type, listOf(pair))) };
    case "structure": {
      const items = listOf(data);
      return { ...type, fields: type.fields.map((held, at) => fieldOf(held, items[at] ?? null)) };
    }
    case "variant":
      return variantOf(data);
  }
}

/** A control for a variant with a value of this type, once that is one. */
export function variantField(type: string): Field {
  const inner = readSingle(type);
  return { kind: "variant", type, inside: inner === undefined ? undefined : emptyField(inner) };
}

/** One more control at the end of an array or a dictionary. */
export function withOneMore(field: Field): Field {
  if (field.kind === "array") {
    return { ...field, items: [...field.items, emptyField(field.element)] };
  }
  if (field.kind !== "dictionary") return field;
  const entry = { key: basicField(field.key), value: emptyField(field.value) };
  return { ...field, entries: [...field.entries, entry] };
}

/** What is in a control as JSON, or what is wrong with the first part of it that is wrong. */
export function readField(field: Field): Read {
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

/** What is in several controls, or what is wrong with the first one that is wrong. */
export function readFields(fields: readonly Field[]): Read<Json[]> {
  const values: Json[] = [];
  for (const field of fields) {
    const read = readField(field);
    if ("problem" in read) return read;
    values.push(read.value);
  }
  return { value: values };
}

/** What is wrong with a control itself, not with one inside of it. */
export function problemOf(field: Field): string | undefined {
  if (field.kind === "dictionary") return isTwice(field.entries) ? TWICE : undefined;
  if (field.kind === "variant") return field.inside === undefined ? NO_TYPE : undefined;
  if (field.kind !== "text" && field.kind !== "bytes") return undefined;
  const read = readField(field);
  return "problem" in read ? read.problem : undefined;
}

/** A list in which one place is another; the same without the place if that is undefined. */
export function replaced<T>(list: readonly T[], place: number, item: T | undefined): readonly T[] {
  return list.flatMap((held, at) => (at !== place ? [held] : item === undefined ? [] : [item]));
}

function basicField(code: BasicCode): Field {
  if (code === "b") return { kind: "flag", isOn: false };
  return { kind: "text", code, text: code === "o" ? "/" : "" };
}

function entryOf(type: Type & { kind: "dictionary" }, pair: readonly Json[]): Entry {
  const [key = null, value = null] = pair;
  return {
    key: fieldOf({ kind: "basic", code: type.key }, key),
    value: fieldOf(type.value, value),
  };
}

function variantOf(data: Json): Field {
  const { type, data: held } = (data ?? {}) as { readonly type?: Json; readonly data?: Json };
  const inner = typeof type === "string" ? readSingle(type) : undefined;
  if (inner === undefined) return variantField("s");
  return { kind: "variant", type: String(type), inside: fieldOf(inner, held ?? null) };
}

function readEntries(entries: readonly Entry[]): Read {
  if (isTwice(entries)) return { problem: TWICE };
  const pairs: Json[] = [];
  for (const { key, value } of entries) {
    const pair = readFields([key, value]);
    if ("problem" in pair) return pair;
    pairs.push(pair.value);
  }
  return { value: pairs };
}

function readVariant(type: string, inside: Field | undefined): Read {
  if (inside === undefined) return { problem: NO_TYPE };
  const read = readField(inside);
  return "problem" in read ? read : { value: { type, data: read.value } };
}

/** Whether a key is there twice, however it was written. */
function isTwice(entries: readonly Entry[]): boolean {
  const keys = entries.flatMap(({ key }) => {
    const read = readField(key);
    return "value" in read ? [JSON.stringify(read.value)] : [];
  });
  return new Set(keys).size < keys.length;
}

function listOf(data: Json): readonly Json[] {
  return Array.isArray(data) ? data : [];
}

const TWICE = "Duplicate key";
const NO_TYPE = "Not a single type, such as s, u or a{sv}";
