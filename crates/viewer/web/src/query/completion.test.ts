import { expect, test } from "vitest";
import { accept, bytesBefore, hasNews, placeBehind } from "./completion";

test.each([
  ["abc", 2, 2],
  ["mäh", 2, 3],
  ["€x", 1, 3],
  ["😀x", 2, 4],
])("in %s the place %d is byte %d", (text, cursor, bytes) => {
  expect(bytesBefore({ text, cursor })).toBe(bytes);
  expect(placeBehind(text, bytes)).toBe(cursor);
});

test("a position inside a character is before it", () => {
  expect(placeBehind("€", 2)).toBe(0);
});

// The sign | marks the cursor in the expected text.
test.each<[string, number, number, string, string]>([
  ["mem", 0, 3, "member:", "member:|"],
  ["", 0, 0, "type:", "type:|"],
  ["type:si", 5, 7, "signal", "type:signal |"],
  ["arg0:F", 5, 6, "Foo bar", 'arg0:"Foo bar" |'],
  ["a o", 2, 3, "or", "a or |"],
  ["(mem) x", 1, 4, "member:", "(member:|) x"],
  ["(type:c) x", 6, 7, "call", "(type:call|) x"],
  ["arg~ä mem", 7, 10, "member:", "arg~ä member:|"],
])("%s with bytes %d to %d as %s is %s", (text, from, to, offer, expected) => {
  const taken = accept(text, { from, to, offers: [] }, { text: offer, about: "" });
  const { text: written, cursor } = taken;
  expect(`${written.slice(0, cursor)}|${written.slice(cursor)}`).toBe(expected);
});

test.each([
  ["type:call", [{ text: "call", about: "" }], false],
  ["type:call", [], false],
  ["type:call", [{ text: "callback", about: "" }], true],
])("whether %s with %o has news: %s", (text, offers, expected) => {
  expect(hasNews(text, { from: 5, to: 9, offers })).toBe(expected);
});
