// A choice between several texts in the address of the page.

import type { Signal } from "@preact/signals";
import type { AddressPart } from "./url";

/** A signal in the address, by its name there. The first value is the default. */
export function choiceInAddress<T extends string>(
  name: string,
  chosen: Signal<T>,
  values: readonly [T, ...T[]],
): AddressPart {
  return {
    write(fields) {
      if (chosen.value !== values[0]) fields.set(name, chosen.value);
    },
    read(fields) {
      chosen.value = values.find((value) => value === fields.get(name)) ?? values[0];
    },
  };
}

/** Combines several parts of the address. */
export function together(parts: readonly AddressPart[]): AddressPart {
  return {
    write(fields) {
      for (const part of parts) part.write(fields);
    },
    read(fields) {
      for (const part of parts) part.read(fields);
    },
  };
}
