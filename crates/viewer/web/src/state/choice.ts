// One of several texts, as the address of the page has it.

import type { Signal } from "@preact/signals";
import type { AddressPart } from "./url";

/** A signal in the address, by its name there. The first value is the one that it has at first. */
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

/** Several parts as one. */
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
