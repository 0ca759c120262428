// Types of D-Bus, read from signatures.

/** A type that holds no other values, by its letter. */
export type BasicCode = "y" | "b" | "n" | "q" | "i" | "u" | "x" | "t" | "d" | "s" | "o" | "g" | "h";

/** A type. Arrays of bytes and dictionaries are written in ways of their own, so they are told apart. */
export type Type =
  | { readonly kind: "basic"; readonly code: BasicCode }
  | { readonly kind: "variant" }
  | { readonly kind: "bytes" }
  | { readonly kind: "array"; readonly element: Type }
  | { readonly kind: "dictionary"; readonly key: BasicCode; readonly value: Type }
  | { readonly kind: "structure"; readonly fields: readonly Type[] };

/** The types of a signature; undefined if it is none. */
export function readTypes(signature: string): readonly Type[] | undefined {
  if (signature.length > LENGTH_MAX) return undefined;
  const types: Type[] = [];
  for (let at = 0; at < signature.length; ) {
    const read = readType(signature, at, { arrays: 0, structures: 0 });
    if (read === undefined) return undefined;
    types.push(read.type);
    at = read.end;
  }
  return types;
}

/** The type of a signature that has one; undefined of any other text. */
export function readSingle(signature: string): Type | undefined {
  const types = readTypes(signature);
  return types?.length === 1 ? types[0] : undefined;
}

/** A type as signatures have it. */
export function signatureOf(type: Type): string {
  switch (type.kind) {
    case "basic":
      return type.code;
    case "variant":
      return "v";
    case "bytes":
      return "ay";
    case "array":
      return `a${signatureOf(type.element)}`;
    case "dictionary":
      return `a{${type.key}${signatureOf(type.value)}}`;
    case "structure":
      return `(${type.fields.map(signatureOf).join("")})`;
  }
}

/** How many arrays and structures a type stands in. */
interface Depth {
  readonly arrays: number;
  readonly structures: number;
}

interface Read {
  readonly type: Type;
  /** Where it ends. */
  readonly end: number;
}

function readType(text: string, at: number, depth: Depth): Read | undefined {
  const letter = text.charAt(at);
  if (isBasic(letter)) return { type: { kind: "basic", code: letter }, end: at + 1 };
  if (letter === "v") return { type: { kind: "variant" }, end: at + 1 };
  if (letter === "a") return readArray(text, at + 1, { ...depth, arrays: depth.arrays + 1 });
  if (letter !== "(") return undefined;
  return readStructure(text, at + 1, { ...depth, structures: depth.structures + 1 });
}

function readArray(text: string, at: number, depth: Depth): Read | undefined {
  if (depth.arrays > DEPTH_MAX) return undefined;
  if (text.charAt(at) === "{") return readDictionary(text, at + 1, depth);
  const element = readType(text, at, depth);
  if (element === undefined) return undefined;
  const { type, end } = element;
  const isBytes = type.kind === "basic" && type.code === "y";
  return { type: isBytes ? { kind: "bytes" } : { kind: "array", element: type }, end };
}

function readDictionary(text: string, at: number, depth: Depth): Read | undefined {
  const key = text.charAt(at);
  const value = isBasic(key) ? readType(text, at + 1, depth) : undefined;
  if (!isBasic(key) || value === undefined || text.charAt(value.end) !== "}") return undefined;
  return { type: { kind: "dictionary", key, value: value.type }, end: value.end + 1 };
}

function readStructure(text: string, from: number, depth: Depth): Read | undefined {
  if (depth.structures > DEPTH_MAX) return undefined;
  const fields: Type[] = [];
  let at = from;
  while (text.charAt(at) !== ")") {
    const field = readType(text, at, depth);
    if (field === undefined) return undefined;
    fields.push(field.type);
    at = field.end;
  }
  return fields.length === 0 ? undefined : { type: { kind: "structure", fields }, end: at + 1 };
}

function isBasic(letter: string): letter is BasicCode {
  return letter !== "" && "ybnqiuxtdsogh".includes(letter);
}

/** Bytes of a signature. */
const LENGTH_MAX = 255;
/** Arrays in arrays, and structures in structures. */
const DEPTH_MAX = 32;
