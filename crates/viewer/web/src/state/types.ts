// The types of values, which the program has parsed. The page does not parse signatures.

import type { TypeTable, ValueType } from "../generated/protocol";

/** All types that answers contained. A signature always has the same type, so none is removed. */
export class KnownTypes {
  private readonly known = new Map<string, ValueType>();

  /** Adds the types of an answer. */
  learn(types: TypeTable): void {
    for (const type of Object.values(types)) this.known.set(type.signature, type);
  }

  /** The type with this signature; undefined if no answer contained it. */
  get(signature: string): ValueType | undefined {
    return this.known.get(signature);
  }

  /** A type in words, as far as it is known. */
  words(signature: string): string {
    return this.get(signature)?.words ?? signature;
  }
}
