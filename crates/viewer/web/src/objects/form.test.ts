import { expect, test } from "vitest";
import type { Json } from "../generated/protocol";
import {
  emptyField,
  type FormField,
  fieldOf,
  problemOf,
  readField,
  replaced,
  variantField,
  withOneMore,
} from "./form";
import { TYPES } from "./testing";

function typeOf(signature: string) {
  const type = TYPES.get(signature);
  if (type === undefined) throw new Error(`${signature} is not one type`);
  return type;
}

/** A value from the bus that is shown in a form and sent again is unchanged. */
test.each<[string, Json]>([
  ["y", 7],
  ["b", true],
  ["b", false],
  ["n", -5],
  ["q", 5],
  ["i", -2147483648],
  ["u", 4294967295],
  ["x", "-9223372036854775808"],
  ["t", "18446744073709551615"],
  ["d", 0.1],
  ["d", "NaN"],
  ["d", "-Infinity"],
  ["s", ""],
  ["s", 'hostile \u202e "\\\n'],
  ["o", "/"],
  ["g", "a{sv}"],
  ["ay", []],
  ["ay", [0, 255]],
  ["as", []],
  ["aay", [[], [1]]],
  ["aas", [[], ["a", ""]]],
  ["(s)", ["x"]],
  ["(i(sb))", [1, ["a", true]]],
  ["a{sv}", []],
  ["a{sv}", [["k", { type: "as", data: [] }]]],
  [
    "a{us}",
    [
      [1, "one"],
      [2, "two"],
    ],
  ],
  ["a{oa{sa{sv}}}", [["/a", [["i.f", [["P", { type: "x", data: "1" }]]]]]]],
  ["v", { type: "s", data: "" }],
  ["v", { type: "v", data: { type: "ay", data: [1] } }],
  ["a(ov)", [["/", { type: "(dd)", data: [1.5, 2] }]]],
])("a value of %s is unchanged by a form: %j", (signature, data) => {
  expect(readField(fieldOf(typeOf(signature), data, TYPES))).toEqual({ value: data });
});

test.each<[string, Json]>([
  ["b", false],
  ["s", ""],
  ["o", "/"],
  ["g", ""],
  ["ay", []],
  ["as", []],
  ["a{sv}", []],
  ["v", { type: "s", data: "" }],
  ["(sasb)", ["", [], false]],
])("an empty form for %s is %j", (signature, value) => {
  expect(readField(emptyField(typeOf(signature)))).toEqual({ value });
});

test.each(["y", "i", "t", "d", "h", "(si)"])("an empty form for %s is incomplete", (signature) => {
  expect(readField(emptyField(typeOf(signature)))).toHaveProperty("problem");
});

test("new elements are added at the end with the declared types", () => {
  const array = withOneMore(withOneMore(emptyField(typeOf("aas"))));
  expect(readField(array)).toEqual({ value: [[], []] });
  const dictionary = withOneMore(emptyField(typeOf("a{ov}")));
  expect(readField(dictionary)).toEqual({ value: [["/", { type: "s", data: "" }]] });
  const text = emptyField(typeOf("s"));
  expect(withOneMore(text)).toBe(text);
});

test.each<[string, Json, string]>([
  [
    "a{ss}",
    [
      ["a", "1"],
      ["a", "2"],
    ],
    "Duplicate key",
  ],
  [
    "a{us}",
    [
      [1, ""],
      [1, ""],
    ],
    "Duplicate key",
  ],
  ["o", "no path", "Not a valid object path, such as /org/example/Object_1"],
  ["ay", [1, 2], ""],
  ["as", ["a", "a"], ""],
])("%s: %j is rejected: %j", (signature, data, problem) => {
  expect(problemOf(fieldOf(typeOf(signature), data, TYPES)) ?? "").toBe(problem);
});

test("differently written equal keys are duplicates", () => {
  const key = (text: string): FormField => ({ kind: "text", code: "u", text });
  const value = emptyField(typeOf("s"));
  const entries = [
    { key: key("16"), value },
    { key: key("0x10"), value },
  ];
  const field: FormField = { kind: "dictionary", key: typeOf("u"), value: typeOf("s"), entries };
  expect(problemOf(field)).toBe("Duplicate key");
});

test("a variant needs a type", () => {
  const problem = "Not a single type, such as s, u or a{sv}";
  expect(readField(variantField("ss", undefined))).toEqual({ problem });
  const value = { type: "aay", data: [] };
  expect(readField(variantField("aay", typeOf("aay")))).toEqual({ value });
});

test.each<[string, Json]>([
  ["as", null],
  ["a{sv}", ["no pair"]],
  ["(ii)", []],
  ["v", "no variant"],
  ["v", { type: 7, data: 7 }],
])("a value that does not match %s still makes a form: %j", (signature, data) => {
  expect(fieldOf(typeOf(signature), data, TYPES).kind).toBe(emptyField(typeOf(signature)).kind);
});

test.each<[number, string | undefined, string[]]>([
  [0, "x", ["x", "b"]],
  [1, undefined, ["a"]],
  [5, "x", ["a", "b"]],
])("element %d is replaced by %j", (place, item, expected) => {
  expect(replaced(["a", "b"], place, item)).toEqual(expected);
});
