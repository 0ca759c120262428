// Calls in the words of other programs.

import type { Call, Json, TypedJson } from "./protocol";
import { type BasicCode, readSingle, readTypes, signatureOf, type Type } from "./types";

/** The command of systemd that makes the call. */
export function busctl(call: Call, address: string): string {
  const types = readTypes(call.signature) ?? [];
  const words = types.flatMap((type, at) => busctlWords(type, call.arguments[at] ?? null));
  const target = ["call", call.service, call.path, call.interface, call.method];
  const dashes = words.some((word) => word.startsWith("-")) ? ["--"] : [];
  const signature = call.signature === "" ? [] : [call.signature];
  return commandLine([
    "busctl",
    `--address=${address}`,
    ...dashes,
    ...target,
    ...signature,
    ...words,
  ]);
}

/** The command of GLib that makes the call. */
export function gdbus(call: Call, address: string): string {
  const words = variantTexts(call);
  const target = ["--dest", call.service, "--object-path", call.path];
  const method = ["--method", `${call.interface}.${call.method}`];
  const dashes = words.some((word) => word.startsWith("-")) ? ["--"] : [];
  return commandLine([
    "gdbus",
    "call",
    "--address",
    address,
    ...target,
    ...method,
    ...dashes,
    ...words,
  ]);
}

/** The arguments of a call as GLib writes them. */
export function variantTexts(call: Pick<Call, "signature" | "arguments">): string[] {
  const types = readTypes(call.signature) ?? [];
  return types.map((type, at) => variantText(type, call.arguments[at] ?? null));
}

/** Words of a command line of a shell. */
export function commandLine(words: readonly string[]): string {
  return words.map(shellWord).join(" ");
}

/** A value as busctl takes it: of arrays the length comes first. */
function busctlWords(type: Type, data: Json): string[] {
  switch (type.kind) {
    case "basic":
      return [String(data)];
    case "bytes":
      return [String(listOf(data).length), ...listOf(data).map(String)];
    case "array": {
      const items = listOf(data);
      return [String(items.length), ...items.flatMap((item) => busctlWords(type.element, item))];
    }
    case "dictionary": {
      const words = listOf(data).flatMap((pair) => busctlFields(entryTypes(type), listOf(pair)));
      return [String(listOf(data).length), ...words];
    }
    case "structure":
      return busctlFields(type.fields, listOf(data));
    case "variant": {
      const inside = insideOf(data);
      return inside === undefined
        ? []
        : [inside.signature, ...busctlWords(inside.type, inside.data)];
    }
  }
}

function busctlFields(types: readonly Type[], data: readonly Json[]): string[] {
  return types.flatMap((type, at) => busctlWords(type, data[at] ?? null));
}

/** A value as GLib writes it, with its type wherever that would not be clear. */
function variantText(type: Type, data: Json): string {
  switch (type.kind) {
    case "basic":
      return basicText(type.code, data);
    case "bytes":
    case "array": {
      const element: Type = type.kind === "bytes" ? { kind: "basic", code: "y" } : type.element;
      const items = listOf(data).map((item) => variantText(element, item));
      return items.length === 0 ? `@${signatureOf(type)} []` : `[${items.join(", ")}]`;
    }
    case "dictionary": {
      const pairs = listOf(data).map((pair) => fieldTexts(entryTypes(type), listOf(pair)));
      const texts = pairs.map((pair) => pair.join(": "));
      return texts.length === 0 ? `@${signatureOf(type)} {}` : `{${texts.join(", ")}}`;
    }
    case "structure": {
      const texts = fieldTexts(type.fields, listOf(data));
      return texts.length === 1 ? `(${texts[0]},)` : `(${texts.join(", ")})`;
    }
    case "variant": {
      const inside = insideOf(data);
      return `<${inside === undefined ? "" : variantText(inside.type, inside.data)}>`;
    }
  }
}

function fieldTexts(types: readonly Type[], data: readonly Json[]): string[] {
  return types.map((type, at) => variantText(type, data[at] ?? null));
}

function basicText(code: BasicCode, data: Json): string {
  if (code === "s") return quotedText(String(data));
  if (code === "d") return doubleText(String(data));
  const word = TYPE_WORDS[code];
  const text = "og".includes(code) ? quotedText(String(data)) : String(data);
  return word === undefined ? text : `${word} ${text}`;
}

function doubleText(text: string): string {
  if (text === "NaN") return "nan";
  if (text.endsWith("Infinity")) return text.replace("Infinity", "inf");
  return /[.e]/.test(text) ? text : `${text}.0`;
}

function quotedText(text: string): string {
  const escaped = text.replace(/['\\]/g, "\\$&").replace(CONTROL, (character) => {
    const code = (character.codePointAt(0) ?? 0).toString(16);
    return code.length > 4 ? `\\U${code.padStart(8, "0")}` : `\\u${code.padStart(4, "0")}`;
  });
  return `'${escaped}'`;
}

function shellWord(word: string): string {
  if (/^[\w./:=,@%+-]+$/.test(word)) return word;
  if (word.search(CONTROL) < 0) return `'${word.replaceAll("'", "'\\''")}'`;
  const escaped = word.replace(/['\\]/g, "\\$&").replace(CONTROL, bytesEscaped);
  return `$'${escaped}'`;
}

function bytesEscaped(character: string): string {
  const bytes = [...new TextEncoder().encode(character)];
  return bytes.map((byte) => `\\${byte.toString(8).padStart(3, "0")}`).join("");
}

function entryTypes(type: Type & { kind: "dictionary" }): readonly Type[] {
  return [{ kind: "basic", code: type.key }, type.value];
}

function insideOf(
  data: Json,
): { readonly signature: string; readonly type: Type; readonly data: Json } | undefined {
  const { type: signature, data: held } = (data ?? {}) as unknown as TypedJson;
  const type = readSingle(String(signature));
  return type === undefined ? undefined : { signature, type, data: held };
}

function listOf(data: Json): readonly Json[] {
  return Array.isArray(data) ? data : [];
}

/** What is not seen, or changes the direction of writing. */
const CONTROL = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

const TYPE_WORDS: Readonly<Record<string, string>> = {
  y: "byte",
  n: "int16",
  q: "uint16",
  u: "uint32",
  x: "int64",
  t: "uint64",
  o: "objectpath",
  g: "signature",
  h: "handle",
};
