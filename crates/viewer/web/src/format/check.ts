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
  const fault = named(name)(value);
  if (fault !== undefined) throw new FormatError(`not a valid ${name}: ${fault}`);
  // The shape was generated from the same definition as the type.
  return value as Checked[N];
}

/** Where a value differs from a shape, and what is expected there; undefined if it does not differ. */
type Check = (value: unknown) => string | undefined;

type Members = Readonly<Record<string, unknown>>;
type Fields = { readonly [field: string]: Shape };

/** The checks of types with names, made of their shapes the first time they are used. */
const CHECKS = new Map<string, Check>([
  ["any", () => undefined],
  ["null", (value) => (value === null ? undefined : ": expected null")],
  ["boolean", (value) => (typeof value === "boolean" ? undefined : ": expected a boolean")],
  ["string", (value) => (typeof value === "string" ? undefined : ": expected a string")],
  ["number", (value) => (typeof value === "number" ? undefined : ": expected a number")],
  ["integer", (value) => (Number.isInteger(value) ? undefined : WHOLE)],
  ["unsigned", (value) => (Number.isInteger(value) && Number(value) >= 0 ? undefined : WHOLE)],
]);
const WHOLE = ": expected a whole number";

function named(name: string): Check {
  const known = CHECKS.get(name);
  if (known !== undefined) return known;
  // A type may be a part of itself.
  let check: Check = (value) => {
    check = checkOf(SHAPES[name] ?? "any");
    return check(value);
  };
  const delegating: Check = (value) => check(value);
  CHECKS.set(name, delegating);
  return delegating;
}

function checkOf(shape: Shape): Check {
  if (typeof shape === "string") return named(shape);
  if (!isOperation(shape)) return fieldsCheck(shape);
  switch (shape[0]) {
    case "word": {
      const words = new Set<unknown>(shape.slice(1));
      const fault = `: expected ${[...words].join(" or ")}`;
      return (value) => (words.has(value) ? undefined : fault);
    }
    case "list":
      return listCheck(checkOf(shape[1]));
    case "tuple":
      return tupleCheck(partsOf(shape).map(checkOf));
    case "map":
      return mapCheck(checkOf(shape[1]));
    case "either":
      return eitherCheck(partsOf(shape));
    case "all": {
      const checks = partsOf(shape).map(checkOf);
      return (value) => firstFault(checks.length, (place) => checks[place]?.(value));
    }
    case "one":
      return oneCheck(checksOf(shape[1]));
    case "tag":
      return tagCheck(shape[1], checksOf(shape[2]));
  }
}

function fieldsCheck(shape: Fields): Check {
  const fields = Object.entries(shape).map(([key, inner]) => {
    const isOptional = key.endsWith("?");
    return { name: isOptional ? key.slice(0, -1) : key, isOptional, check: checkOf(inner) };
  });
  return (value) => {
    if (!isObject(value)) return ": expected an object";
    for (const { name, isOptional, check } of fields) {
      const held = value[name];
      if (isOptional && held === undefined) continue;
      const fault = check(held);
      if (fault !== undefined) return `.${name}${fault}`;
    }
    return undefined;
  };
}

function listCheck(check: Check): Check {
  return (value) => {
    if (!Array.isArray(value)) return ": expected a list";
    for (let place = 0; place < value.length; place++) {
      const fault = check(value[place]);
      if (fault !== undefined) return `[${place}]${fault}`;
    }
    return undefined;
  };
}

function tupleCheck(checks: readonly Check[]): Check {
  return (value) => {
    if (!Array.isArray(value) || value.length !== checks.length) {
      return `: expected a list of ${checks.length}`;
    }
    return firstFault(checks.length, (place) => {
      const fault = checks[place]?.(value[place]);
      return fault === undefined ? undefined : `[${place}]${fault}`;
    });
  };
}

function mapCheck(check: Check): Check {
  return (value) => {
    if (!isObject(value)) return ": expected an object";
    for (const [key, held] of Object.entries(value)) {
      const fault = check(held);
      if (fault !== undefined) return `.${key}${fault}`;
    }
    return undefined;
  };
}

/**
 * Alternatives that lack a field are passed over. Of several faults, the one deepest in the value is
 * reported: it is in the alternative that was meant.
 */
function eitherCheck(shapes: readonly Shape[]): Check {
  const alternatives = shapes.map((shape) => {
    const needs = needsOf(shape);
    return { check: checkOf(shape), needs, missing: `: expected the fields ${needs.join(", ")}` };
  });
  return (value) => {
    let deepest = "";
    for (const { check, needs, missing } of alternatives) {
      const fault = hasAll(value, needs) ? check(value) : missing;
      if (fault === undefined) return undefined;
      if (deepest === "" || (fault !== missing && depth(fault) > depth(deepest))) deepest = fault;
    }
    return deepest;
  };
}

function hasAll(value: unknown, names: readonly string[]): boolean {
  if (names.length === 0) return true;
  if (!isObject(value)) return false;
  for (const name of names) if (!(name in value)) return false;
  return true;
}

/** The fields that an object must have. */
function needsOf(shape: Shape): readonly string[] {
  if (typeof shape === "string" || isOperation(shape)) return [];
  return Object.keys(shape).filter((key) => !key.endsWith("?"));
}

function oneCheck(checks: ReadonlyMap<string, Check>): Check {
  return (value) => {
    const [key = "", ...others] = isObject(value) ? Object.keys(value) : [];
    const check = checks.get(key);
    if (check === undefined || others.length > 0 || !isObject(value)) {
      return `: expected one of ${[...checks.keys()].join(", ")}`;
    }
    const fault = check(value[key]);
    return fault === undefined ? undefined : `.${key}${fault}`;
  };
}

function tagCheck(tag: string, checks: ReadonlyMap<unknown, Check>): Check {
  return (value) => {
    const check = isObject(value) ? checks.get(value[tag]) : undefined;
    return check === undefined
      ? `.${tag}: expected ${[...checks.keys()].join(" or ")}`
      : check(value);
  };
}

function checksOf(shapes: Readonly<Record<string, Shape>>): ReadonlyMap<string, Check> {
  return new Map(Object.entries(shapes).map(([key, shape]) => [key, checkOf(shape)]));
}

function partsOf([, ...shapes]: readonly [string, ...Shape[]]): readonly Shape[] {
  return shapes;
}

function firstFault(length: number, find: (place: number) => string | undefined) {
  for (let place = 0; place < length; place++) {
    const found = find(place);
    if (found !== undefined) return found;
  }
  return undefined;
}

function depth(fault: string): number {
  return fault.split(/[.[]/).length;
}

function isOperation(shape: Exclude<Shape, string>): shape is Exclude<Shape, string | Fields> {
  return Array.isArray(shape);
}

/** Whether a value is an object whose members can be read. */
export function isObject(value: unknown): value is Members {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
