import { expect, test } from "vitest";
import { childrenOf, inline } from "../details/values";
import type { Json } from "../generated/protocol";
import { TYPES } from "./testing";
import { displayValue } from "./values";

test.each<[string, Json, string]>([
  ["y", 7, "7"],
  ["b", true, "true"],
  ["x", "-9223372036854775808", "-9223372036854775808"],
  ["d", "NaN", "NaN"],
  ["s", "", '""'],
  ["s", "a\nb", '"a\\nb"'],
  ["o", "/a", '"/a"'],
  ["ay", [0, 255, 1], "3 bytes"],
  ["ay", [], "0 bytes"],
  ["as", [], "[]"],
  ["as", ["a", "b"], '["a", "b"]'],
  ["(si)", ["a", 1], '("a", 1)'],
  ["a{sv}", [], "{}"],
  ["a{sv}", [["k", { type: "u", data: 1 }]], "{k: 1}"],
  ["a{s(ay)}", [["k", [[1]]]], "{k: (1 bytes)}"],
  ["v", { type: "v", data: { type: "s", data: "x" } }, '"x"'],
  // Malformed values are shown, too.
  ["?", 1, "1"],
  ["(si)", [], '("null", null)'],
])("%s %j is displayed as %s", (type, data, expected) => {
  expect(inline(displayValue({ type, data }, TYPES))).toBe(expected);
});

test("bytes are hexadecimal, and arguments have names", () => {
  expect(displayValue({ type: "ay", data: [0, 255] }, TYPES, "image")).toEqual({
    type: "ay",
    bytes: "00ff",
    name: "image",
  });
  expect(displayValue({ type: "s", data: "x" }, TYPES, null)).not.toHaveProperty("name");
});

test("dictionary entries keep their order", () => {
  const value = displayValue(
    {
      type: "a{us}",
      data: [
        [2, "b"],
        [1, "a"],
      ],
    },
    TYPES,
  );
  expect(childrenOf(value).map(({ label }) => label)).toEqual(["2", "1"]);
});
