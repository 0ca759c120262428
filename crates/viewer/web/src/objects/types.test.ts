import { expect, test } from "vitest";
import { readSingle, readTypes, signatureOf } from "./types";

test.each([
  "",
  "y",
  "ybnqiuxtdsogh",
  "v",
  "ay",
  "aay",
  "as",
  "a{sv}",
  "a{oa{sa{sv}}}",
  "(s)",
  "(s(iv)a(xt))",
  "a(ya{y(dd)})",
  `${"a".repeat(32)}y`,
  `${"(".repeat(32)}y${")".repeat(32)}`,
])("the types of %s are written as they were read", (signature) => {
  expect(readTypes(signature)?.map(signatureOf).join("")).toBe(signature);
});

test.each([
  "a",
  "z",
  "()",
  "(s",
  "s)",
  "{sv}",
  "a{vs}",
  "a{s}",
  "a{sss}",
  "a{(s)s}",
  "a{sv",
  "(s}",
  " ",
  "S",
  "\u202es",
  `${"a".repeat(33)}y`,
  `${"(".repeat(33)}y${")".repeat(33)}`,
  "s".repeat(256),
])("%s is no signature", (text) => {
  expect(readTypes(text)).toBeUndefined();
});

test.each([
  ["", undefined],
  ["ss", undefined],
  ["a{sv}", "a{sv}"],
])("of %s a variant has the type %s", (text, expected) => {
  const type = readSingle(text);
  expect(type && signatureOf(type)).toBe(expected);
});
