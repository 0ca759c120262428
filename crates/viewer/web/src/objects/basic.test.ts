import { expect, test } from "vitest";
import type { Json } from "../generated/protocol";
import { bytesText, readBasic, readBytes, type TextCode } from "./basic";

test.each<[TextCode, string, Json]>([
  ["y", "255", 255],
  ["y", " 0x1f ", 31],
  ["n", "-32768", -32768],
  ["q", "65535", 65535],
  ["i", "-2147483648", -2147483648],
  ["i", "+7", 7],
  ["i", "-0x10", -16],
  ["u", "4294967295", 4294967295],
  ["x", "-9223372036854775808", "-9223372036854775808"],
  ["t", "18446744073709551615", "18446744073709551615"],
  ["t", "007", "7"],
  ["d", "1.5e3", 1500],
  ["d", "-.5", -0.5],
  ["d", "nan", "NaN"],
  ["d", "-inf", "-Infinity"],
  ["d", "Infinity", "Infinity"],
  ["s", "", ""],
  ["s", "two\nlines \u202e", "two\nlines \u202e"],
  ["s", "😀", "😀"],
  ["o", "/", "/"],
  ["o", "/a/B_0", "/a/B_0"],
  ["g", "", ""],
  ["g", "a{sv}(ii)", "a{sv}(ii)"],
])("%s: %j is parsed as %j", (code, text, value) => {
  expect(readBasic(code, text)).toEqual({ value });
});

test.each<[TextCode, string, string]>([
  ["y", "256", "Must be from 0 to 255"],
  ["y", "-1", "Must be from 0 to 255"],
  ["y", "", "A number is missing"],
  ["n", "32768", "Must be from -32768 to 32767"],
  ["q", "1.5", "Not a whole number"],
  ["i", "1e3", "Not a whole number"],
  ["i", "0x", "Not a whole number"],
  ["u", "４", "Not a whole number"],
  ["x", "9223372036854775808", "Must be from -9223372036854775808 to 9223372036854775807"],
  ["t", "9".repeat(5000), "Not a whole number"],
  ["d", "1e999", "Out of range for a double"],
  ["d", "1,5", "Not a number"],
  ["d", "", "A number is missing"],
  ["s", "a\0b", "A D-Bus string cannot contain a NUL byte"],
  ["s", "\ud83d", "Contains an unpaired surrogate"],
  ["o", "", "Not a valid object path, such as /org/example/Object_1"],
  ["o", "/a/", "Not a valid object path, such as /org/example/Object_1"],
  ["o", "/a-b", "Not a valid object path, such as /org/example/Object_1"],
  ["o", "/a\n", "Not a valid object path, such as /org/example/Object_1"],
  ["h", "0", "A page cannot send file descriptors"],
])("%s: %j is rejected: %s", (code, text, problem) => {
  expect(readBasic(code, text)).toEqual({ problem });
});

test.each<[string, number[]]>([
  ["", []],
  ["00 ff", [0, 255]],
  ["0x00FF", [0, 255]],
  ["de:ad:be:ef", [222, 173, 190, 239]],
  ["01,\n02", [1, 2]],
])("the bytes %j are parsed as %j", (text, value) => {
  expect(readBytes(text)).toEqual({ value });
  expect(readBytes(bytesText(value))).toEqual({ value });
});

test.each(["0", "zz", "0x0", "00 f", "😀"])("%j is rejected as bytes", (text) => {
  expect(readBytes(text)).toHaveProperty("problem");
});
