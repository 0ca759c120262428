// Validates values from outside against the JSON schemas that are generated from the program's
// types.

import { type Checked, SCHEMAS } from "../generated/protocol";

/** The part of JSON Schema that the generated schemas use. All keywords of a schema must match. */
export interface Schema {
  /** A reference: `#/$defs/` followed by the name of a type. */
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly const?: string;
  readonly enum?: readonly string[];
  /** The minimum of an integer, which is always 0. */
  readonly minimum?: number;
  readonly items?: Schema;
  readonly prefixItems?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  /** The schema of values under arbitrary keys; false if an object has exactly one property. */
  readonly additionalProperties?: Schema | false;
  readonly oneOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
}

/** A value from outside does not have the expected type. */
export class FormatError extends Error {}

/**
 * Returns the value if it has the type with this name.
 *
 * @throws FormatError if it does not.
 */
export function checked<N extends keyof Checked>(name: N, value: unknown): Checked[N] {
  const fault = named(name)(value);
  if (fault !== undefined) throw new FormatError(`not a valid ${name}: ${fault}`);
  // The schema and the type were generated from the same definition.
  return value as Checked[N];
}

/**
 * Returns the place where a value violates a schema and the expected value, or undefined if the
 * value is valid.
 */
type Check = (value: unknown) => string | undefined;

/** The checks of named types, which are built from their schemas on first use. */
const CHECKS = new Map<string, Check>();

function named(name: string): Check {
  const known = CHECKS.get(name);
  if (known !== undefined) return known;
  // The type can contain itself, so its check is built on first use.
  let check: Check = (value) => {
    check = checkOf(SCHEMAS[name]);
    return check(value);
  };
  const delegating: Check = (value) => check(value);
  CHECKS.set(name, delegating);
  return delegating;
}

function checkOf(schema: Schema | undefined): Check {
  if (schema === undefined) return () => undefined;
  const checks: Check[] = [];
  if (schema.$ref !== undefined) checks.push(named(schema.$ref.slice("#/$defs/".length)));
  const words = schema.const === undefined ? schema.enum : [schema.const];
  if (words !== undefined) checks.push(wordCheck(words));
  else if (schema.type !== undefined) {
    const types = typeof schema.type === "string" ? [schema.type] : schema.type;
    checks.push(anyCheck(types.map((type) => typeCheck(type, schema))));
  }
  const alternatives = schema.oneOf ?? schema.anyOf;
  if (alternatives !== undefined) checks.push(alternativesCheck(alternatives));
  return (value) => firstFault(checks, (check) => check(value));
}

function wordCheck(words: readonly unknown[]): Check {
  const fault = `: expected ${words.join(" or ")}`;
  return (value) => (words.includes(value) ? undefined : fault);
}

/** Accepts a value that any check accepts; otherwise returns the fault of the last check. */
function anyCheck(checks: readonly Check[]): Check {
  return (value) => {
    let fault: string | undefined;
    for (const check of checks) {
      fault = check(value);
      if (fault === undefined) return undefined;
    }
    return fault;
  };
}

function typeCheck(type: string, schema: Schema): Check {
  switch (type) {
    case "null":
      return (value) => (value === null ? undefined : ": expected null");
    case "integer": {
      const { minimum = Number.NEGATIVE_INFINITY } = schema;
      const isWhole = (value: unknown) => Number.isInteger(value) && Number(value) >= minimum;
      return (value) => (isWhole(value) ? undefined : ": expected a whole number");
    }
    case "array":
      return schema.prefixItems === undefined
        ? listCheck(checkOf(schema.items))
        : tupleCheck(schema.prefixItems.map(checkOf));
    case "object":
      return objectCheck(schema);
    default: {
      const fault = `: expected a ${type}`;
      return (value) => (typeof value === type ? undefined : fault);
    }
  }
}

function objectCheck({ properties = {}, required, additionalProperties }: Schema): Check {
  const fields = Object.entries(properties).map(([name, schema]) => {
    const isOptional = !required?.includes(name);
    return { name, isOptional, check: checkOf(schema) };
  });
  const others = additionalProperties && checkOf(additionalProperties);
  return (value) => {
    if (!isObject(value)) return ": expected an object";
    const fault = firstFault(fields, ({ name, isOptional, check }) => {
      const held = value[name];
      return isOptional && held === undefined ? undefined : below(`.${name}`, check(held));
    });
    if (fault !== undefined || !others) return fault;
    return firstFault(Object.entries(value), ([key, held]) => below(`.${key}`, others(held)));
  };
}

function listCheck(check: Check): Check {
  return (value) => {
    if (!Array.isArray(value)) return ": expected a list";
    return firstFault(value, (item, place) => below(`[${place}]`, check(item)));
  };
}

function tupleCheck(checks: readonly Check[]): Check {
  return (value) => {
    if (!Array.isArray(value) || value.length !== checks.length) {
      return `: expected a list of ${checks.length}`;
    }
    return firstFault(checks, (check, place) => below(`[${place}]`, check(value[place])));
  };
}

/** Chooses one of several schemas by a tag, or by the only property of the object. */
function alternativesCheck(schemas: readonly Schema[]): Check {
  const [first] = schemas;
  const tag = Object.entries(first?.properties ?? {}).find(([, { const: word }]) => word)?.[0];
  if (tag !== undefined) return tagCheck(tag, schemas);
  return first?.additionalProperties === false ? keyCheck(schemas) : deepestCheck(schemas);
}

function tagCheck(tag: string, schemas: readonly Schema[]): Check {
  const checks = new Map<unknown, Check>(
    schemas.map((schema) => [schema.properties?.[tag]?.const, checkOf(schema)]),
  );
  const fault = `.${tag}: expected ${[...checks.keys()].join(" or ")}`;
  return (value) => {
    const check = isObject(value) ? checks.get(value[tag]) : undefined;
    return check === undefined ? fault : check(value);
  };
}

function keyCheck(schemas: readonly Schema[]): Check {
  const checks = new Map(schemas.map((schema) => [schema.required?.[0], checkOf(schema)]));
  const fault = `: expected one of ${[...checks.keys()].join(", ")}`;
  return (value) => {
    const [key = "", ...others] = isObject(value) ? Object.keys(value) : [];
    const check = others.length > 0 ? undefined : checks.get(key);
    return check === undefined ? fault : check(value);
  };
}

/**
 * Skips alternatives that lack a required field. If all alternatives fail, the fault that is
 * deepest in the value is returned, because that alternative matches best.
 */
function deepestCheck(schemas: readonly Schema[]): Check {
  const alternatives = schemas.map((schema) => {
    const { required = [] } = schema;
    const missing = `: expected the fields ${required.join(", ")}`;
    return { check: checkOf(schema), required, missing };
  });
  return (value) => {
    let deepest = "";
    for (const { check, required, missing } of alternatives) {
      const hasAll =
        required.length === 0 || (isObject(value) && required.every((name) => name in value));
      const fault = hasAll ? check(value) : missing;
      if (fault === undefined) return undefined;
      if (deepest === "" || (fault !== missing && depth(fault) > depth(deepest))) deepest = fault;
    }
    return deepest;
  };
}

/** Prepends a location to a fault, if there is one. */
function below(place: string, fault: string | undefined): string | undefined {
  return fault === undefined ? undefined : place + fault;
}

function firstFault<T>(
  items: readonly T[],
  find: (item: T, place: number) => string | undefined,
): string | undefined {
  let place = 0;
  for (const item of items) {
    const fault = find(item, place++);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

function depth(fault: string): number {
  return fault.split(/[.[]/).length;
}

/** True if a value is an object but not an array. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
