// Checks values from outside against the shapes that are generated from the program's types.

import { type Checked, SHAPES } from "../generated/protocol";

/**
 * The shape of a JSON value: the name of a basic shape or of a type, the fields of an object (those whose
 * names end in a question mark can be absent), or an operation on other shapes.
 */
export type Shape =
  | string
  | { readonly [field: string]: Shape }
  | readonly ["word", ...string[]]
  | readonly ["list", Shape]
  | readonly ["map", Shape]
  | readonly ["tuple" | "either" | "all", ...Shape[]]
  /** Exactly one of these fields. */
  | readonly ["one", Readonly<Record<string, Shape>>]
  /** A field with a word that decides what the rest is. */
  | readonly ["tag", string, Readonly<Record<string, Shape>>];

/** A value from outside does not have the type that it must have. */
export class FormatError extends Error {}

/** The value, if it is of the type with this name. */
export function checked<N extends keyof Checked>(name: N, value: unknown): Checked[N] {
  const fault = faultOf(name, value);
  if (fault !== undefined) throw new FormatError(`not a valid ${name}: ${fault}`);
  // The shape was generated from the same definition as the type.
  return value as Checked[N];
}

/** Where a value differs from a shape, and what is expected there; undefined if it does not differ. */
function faultOf(shape: Shape, value: unknown): string | undefined {
  if (typeof shape === "string") return faultOfNamed(shape, value);
  if (!isOperation(shape)) return faultOfFields(shape, value);
  switch (shape[0]) {
    case "word":
      return typeof value === "string" && shape.includes(value, 1)
        ? undefined
        : `: expected ${shape.slice(1).join(" or ")}`;
    case "list":
      return Array.isArray(value) ? faultOfAll(value, () => shape[1]) : ": expected a list";
    case "tuple":
      return Array.isArray(value) && value.length === shape.length - 1
        ? faultOfAll(value, (place) => shape[place + 1] ?? "any")
        : `: expected a list of ${shape.length - 1}`;
    case "map":
      return isObject(value) ? faultOfEntries(value, shape[1]) : ": expected an object";
    case "either":
      return faultOfEither(shape, value);
    case "all":
      return first(shape.length - 1, (place) => faultOf(shape[place + 1] ?? "any", value));
    case "one": {
      const [key, ...others] = isObject(value) ? Object.keys(value) : [];
      const inner = key === undefined ? undefined : own(shape[1], key);
      if (key === undefined || inner === undefined || others.length > 0 || !isObject(value)) {
        return `: expected one of ${Object.keys(shape[1]).join(", ")}`;
      }
      return within(`.${key}`, faultOf(inner, value[key]));
    }
    case "tag": {
      const word = isObject(value) ? value[shape[1]] : undefined;
      const rest = typeof word === "string" ? own(shape[2], word) : undefined;
      if (rest === undefined) return `.${shape[1]}: expected ${Object.keys(shape[2]).join(" or ")}`;
      return faultOf(rest, value);
    }
  }
}

function faultOfNamed(name: string, value: unknown): string | undefined {
  switch (name) {
    case "any":
      return undefined;
    case "null":
      return value === null ? undefined : ": expected null";
    case "integer":
    case "unsigned":
      return Number.isInteger(value) && (name === "integer" || Number(value) >= 0)
        ? undefined
        : ": expected a whole number";
    case "boolean":
    case "string":
    case "number":
      return typeof value === name ? undefined : `: expected a ${name}`;
  }
  const shape = SHAPES[name];
  return shape === undefined ? `: the shape ${name} is unknown` : faultOf(shape, value);
}

function faultOfFields(shape: Fields, value: unknown): string | undefined {
  if (!isObject(value)) return ": expected an object";
  for (const key in shape) {
    const name = key.endsWith("?") ? key.slice(0, -1) : key;
    const held = value[name];
    if (held === undefined && name !== key) continue;
    const fault = faultOf(shape[key] ?? "any", held);
    if (fault !== undefined) return `.${name}${fault}`;
  }
  return undefined;
}

/** Of several faults, the one that is deepest in the value: it is in the shape that was meant. */
function faultOfEither(shape: readonly [string, ...Shape[]], value: unknown): string | undefined {
  let deepest = "";
  for (let place = 1; place < shape.length; place++) {
    const fault = faultOf(shape[place] ?? "any", value);
    if (fault === undefined) return undefined;
    if (depth(fault) >= depth(deepest)) deepest = fault;
  }
  return deepest;
}

function faultOfAll(
  values: readonly unknown[],
  shapeOf: (place: number) => Shape,
): string | undefined {
  return first(values.length, (place) =>
    within(`[${place}]`, faultOf(shapeOf(place), values[place])),
  );
}

function faultOfEntries(value: Readonly<Record<string, unknown>>, shape: Shape) {
  const keys = Object.keys(value);
  return first(keys.length, (place) => {
    const key = keys[place] ?? "";
    return within(`.${key}`, faultOf(shape, value[key]));
  });
}

function first(length: number, find: (place: number) => string | undefined): string | undefined {
  for (let place = 0; place < length; place++) {
    const found = find(place);
    if (found !== undefined) return found;
  }
  return undefined;
}

function within(place: string, fault: string | undefined): string | undefined {
  return fault === undefined ? undefined : place + fault;
}

function depth(fault: string): number {
  return fault.split(/[.[]/).length;
}

type Fields = { readonly [field: string]: Shape };

function isOperation(shape: Exclude<Shape, string>): shape is Exclude<Shape, string | Fields> {
  return Array.isArray(shape);
}

/** Whether a value is an object whose members can be read. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function own<T>(values: Readonly<Record<string, T>>, key: string): T | undefined {
  return Object.hasOwn(values, key) ? values[key] : undefined;
}
