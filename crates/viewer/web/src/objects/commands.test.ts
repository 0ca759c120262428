import { expect, test } from "vitest";
import { busctl, commandLine, gdbus } from "./commands";
import type { Json } from "./protocol";

function call(signature: string, ...given: Json[]) {
  const target = { service: "a.b", path: "/a", interface: "a.b.I", method: "M" };
  return { ...target, signature, arguments: given };
}

const BUSCTL = "busctl --address=unix:path=/b call a.b /a a.b.I M";
const GDBUS = "gdbus call --address unix:path=/b --dest a.b --object-path /a --method a.b.I.M";

test.each<[string, Json[], string, string]>([
  ["", [], "", ""],
  ["s", ["plain"], " s plain", " ''\\''plain'\\'''"],
  ["b", [true], " b true", " true"],
  ["y", [7], " y 7", " 'byte 7'"],
  ["t", ["18446744073709551615"], " t 18446744073709551615", " 'uint64 18446744073709551615'"],
  ["d", [2], " d 2", " 2.0"],
  ["as", [[]], " as 0", " '@as []'"],
  ["as", [["a", "b c"]], " as 2 a 'b c'", " '['\\''a'\\'', '\\''b c'\\'']'"],
  ["ay", [[1, 255]], " ay 2 1 255", " '[byte 1, byte 255]'"],
  ["(i)", [[1]], " '(i)' 1", " '(1,)'"],
  ["a{sv}", [[]], " 'a{sv}' 0", " '@a{sv} {}'"],
  ["a{sv}", [[["k", { type: "u", data: 1 }]]], " 'a{sv}' 1 k u 1", " '{'\\''k'\\'': <uint32 1>}'"],
])("the arguments %s %j in the words of busctl and gdbus", (signature, given, one, other) => {
  expect(busctl(call(signature, ...given), "unix:path=/b")).toBe(BUSCTL + one);
  expect(gdbus(call(signature, ...given), "unix:path=/b")).toBe(GDBUS + other);
});

test("numbers below zero are no options", () => {
  expect(busctl(call("i", -1), "x")).toBe("busctl --address=x -- call a.b /a a.b.I M i -1");
  expect(gdbus(call("i", -1), "x").endsWith(" -- -1")).toBe(true);
});

test.each([
  ["plain", "plain"],
  ["", "''"],
  ["it's", "'it'\\''s'"],
  ["$(rm -rf /)", "'$(rm -rf /)'"],
  ["`a`\\", "'`a`\\'"],
  ["a\nb", "$'a\\012b'"],
  ["\u202e'\\", "$'\\342\\200\\256\\'\\\\'"],
])("a shell takes %j as it is: %s", (word, expected) => {
  expect(commandLine([word])).toBe(expected);
});
