import { expect, test } from "vitest";
import { oneLine, pieces, stretches } from "./visibleText";

test.each<[string, string[]]>([
  ["plain text", ["plain text"]],
  ["", []],
  ["a\nb", ["a", "[\\n]", "\n", "b"]],
  ["\0", ["[\\0]"]],
  ["user\u202egpj.exe", ["user", "[\\u202E]", "gpj.exe"]],
  ["a\u00a0b", ["a", "[\\u00A0]", "b"]],
  ["\u{e0001}", ["[\\u{E0001}]"]],
  ["ä€😀", ["ä€😀"]],
])("%j is split into stretches", (text, expected) => {
  const found = stretches(text).map(({ text, isMark }) => (isMark ? `[${text}]` : text));
  expect(found).toEqual(expected);
});

test("line breaks are escaped and long texts are cut", () => {
  expect(oneLine("a\nb")).toBe("a\\nb");
  expect(oneLine("abcdef", 3)).toBe("abc…");
});

test.each([
  ["org.freedesktop.DBus", ["org.", "freedesktop.", "DBus"]],
  ["UnknownMethod", ["Unknown", "Method"]],
  ["/org/example", ["/", "org/", "example"]],
  ["plain", ["plain"]],
  ["", [""]],
])("%s can break after the pieces %o", (text, expected) => {
  expect(pieces(text)).toEqual(expected);
});
