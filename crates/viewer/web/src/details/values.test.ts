import { expect, test } from "vitest";
import type { Value } from "../generated/protocol";
import {
  bytesText,
  childrenOf,
  copied,
  hexadecimal,
  hexRows,
  inline,
  leftOut,
  pages,
} from "./values";

const text = (type: string, words: string): Value => ({ type, text: words });
const variant = (inside: Value): Value => ({ type: "v", inside });
const DICTIONARY: Value = {
  type: "a{sv}",
  entries: [
    [text("s", "Used"), variant(text("t", "18446744073709551615"))],
    [text("s", "Name"), variant(variant(text("s", 'a "b"')))],
  ],
};
const LIST: Value = { type: "as", items: [text("s", "a"), text("s", "b")], more: 3 };

test("nested values have keys or indices", () => {
  expect(childrenOf(variant(DICTIONARY)).map(({ label }) => label)).toEqual(["Used", "Name"]);
  expect(childrenOf(LIST).map(({ label }) => label)).toEqual(["0", "1"]);
  expect([leftOut(LIST), leftOut(DICTIONARY), childrenOf(text("s", "x"))]).toEqual([3, 0, []]);
});

test.each<[Value, string, string]>([
  [text("s", "a\nb"), '"a\\nb"', "a\nb"],
  [text("i", "-1"), "-1", "-1"],
  [variant(text("o", "/a")), '"/a"', "/a"],
  [{ type: "ay", bytes: "00ff" }, "2 bytes", "00ff"],
  [LIST, '["a", "b", …]', '["a", "b"]'],
  [{ type: "(id)", items: [text("i", "1"), text("d", "NaN")] }, "(1, NaN)", '[1, "NaN"]'],
  [
    DICTIONARY,
    '{Used: 18446744073709551615, Name: "a \\"b\\""}',
    '{"Used": 18446744073709551615, "Name": "a \\"b\\""}',
  ],
])("%o in one line and on the clipboard", (value, line, whole) => {
  expect(inline(value)).toBe(line);
  expect(copied(value)).toBe(whole);
});

test("long containers are cut in one line", () => {
  const items = Array.from({ length: 1000 }, () => text("u", "1234567"));
  expect(inline({ type: "au", items }).length).toBeLessThan(90);
});

test.each([
  [0, 100, 0],
  [100, 100, 0],
  [101, 100, 2],
  [20_000, 100, 200],
])("%d values on pages of %d are on %d pages", (length, size, expected) => {
  const found = pages(length, size);
  expect(found.length).toBe(expected);
  expect(found.at(-1)?.to ?? length).toBe(length);
});

test.each([
  ["u", "255", "0x000000ff"],
  ["y", "7", "0x07"],
  ["i", "-1", "0xffffffff"],
  ["n", "-32768", "0x8000"],
  ["x", "-9223372036854775808", "0x8000000000000000"],
  ["t", "18446744073709551615", "0xffffffffffffffff"],
  ["d", "1", undefined],
  ["s", "1", undefined],
])("the hexadecimal form of %s %s is %s", (type, number, expected) => {
  expect(hexadecimal(type, number)).toBe(expected);
});

test("bytes are shown with their text", () => {
  expect(hexRows("2f746d702f0041", 0, 7)).toEqual([
    { offset: "0000", hex: "2f 74 6d 70 2f 00 41", text: "/tmp/·A" },
  ]);
  expect(hexRows("00".repeat(20), 8, 20).map(({ offset }) => offset)).toEqual(["0008", "0010"]);
});

test.each([
  ["2f746d7000", "/tmp"],
  ["c3a400", "ä"],
  ["2f746d70", undefined],
  ["2f00746d7000", undefined],
  ["ff00", undefined],
  ["00", undefined],
])("bytes %s are decoded as %s", (bytes, expected) => {
  expect(bytesText(bytes)).toBe(expected);
});
