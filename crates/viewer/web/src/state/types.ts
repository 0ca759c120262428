// The types of values that the program has parsed. The page has no parser of signatures.

import type { TypeTable, ValueType } from "../generated/protocol";

/** All types that answers have mentioned. A signature always means the same type, so nothing is forgotten. */
export class KnownTypes {
  private readonly known = new Map<string, ValueType>();

  /** Takes the types of an answer. */
  learn(types: TypeTable): void {
    for (const type of Object.values(types)) this.known.set(type.signature, type);
  }

  /** The type with this signature; undefined if no answer has mentioned it. */
  get(signature: string): ValueType | undefined {
    return this.known.get(signature);
  }

  /** A type in words, as far as it is known. */
  words(signature: string): string {
    return this.get(signature)?.words ?? signature;
  }
}
