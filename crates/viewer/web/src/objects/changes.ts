// Changes of property values, from signals.

import type {
  BusObject,
  ObjectInterface,
  ObjectProperty,
  TypedValue,
  WatchedSignal,
} from "../generated/protocol";
import { listOf, typedOf } from "./json";

/** The changes that a signal announces. */
export interface Changes {
  readonly interface: string;
  readonly values: ReadonlyMap<string, TypedValue>;
  /** Properties whose new values must be read. */
  readonly invalidated: readonly string[];
}

/** Reads the changes from a PropertiesChanged signal; undefined for other signals. */
export function changesOf(signal: WatchedSignal): Changes | undefined {
  if (signal.interface !== PROPERTIES || signal.member !== "PropertiesChanged") return undefined;
  const [of, changed, invalidated] = signal.arguments ?? [];
  if (of?.type !== "s" || changed?.type !== "a{sv}" || invalidated?.type !== "as") return undefined;
  const values = listOf(changed.data).flatMap((pair): [string, TypedValue][] => {
    const [name = "", variant = null] = listOf(pair);
    const value = typedOf(variant);
    return value === undefined ? [] : [[String(name), value]];
  });
  return {
    interface: String(of.data),
    values: new Map(values),
    invalidated: listOf(invalidated.data).map(String),
  };
}

/** The object with the changed values. */
export function withChanges(object: BusObject, changes: Changes): BusObject {
  const interfaces = object.interfaces.map((one) =>
    one.name === changes.interface ? withValues(one, changes.values) : one,
  );
  return { ...object, interfaces };
}

/** Labels for how a property announces changes. */
export const EMITS: Readonly<Record<ObjectProperty["emits_change"], string>> = {
  value: "emits changes",
  invalidates: "invalidates only",
  const: "never changes",
  no: "no change signal",
};

function withValues(one: ObjectInterface, values: Changes["values"]): ObjectInterface {
  const properties = one.properties.map((property) => {
    const value = values.get(property.name);
    if (value === undefined) return property;
    const { failure: _, ...rest } = property;
    return { ...rest, value };
  });
  return { ...one, properties };
}

const PROPERTIES = "org.freedesktop.DBus.Properties";
