import { expect, test } from "vitest";
import { around, sentence } from "./errorExcerpt";
import { withFirst } from "./queryHistory";

test.each<[string, number, [string, string, string]]>([
  ["membr:x", 1, ["", "m", "embr:x"]],
  ["member:", 8, ["member:", " ", ""]],
  ["a 😀 b", 3, ["a ", "😀", " b"]],
  ["a\nb", 2, ["a", " ", "b"]],
  [`${"x".repeat(100)}!`, 101, [`…${"x".repeat(40)}`, "!", ""]],
  [`!${"x".repeat(100)}`, 1, ["", "!", `${"x".repeat(40)}…`]],
])("%s is wrong at column %d", (query, column, [before, at, behind]) => {
  expect(around(query, column)).toEqual({ before, at, behind });
});

test("the message does not repeat the column", () => {
  expect(sentence("column 12: expected a term")).toBe("Expected a term");
  expect(sentence("no answer")).toBe("No answer");
});

test.each<[string[], string, string[]]>([
  [["a", "b"], "c", ["c", "a"]],
  [["a", "b"], "b", ["b", "a"]],
  [["a", "b"], "", ["a", "b"]],
])("%j with %j first, two at most", (texts, text, expected) => {
  expect(withFirst(texts, text, 2)).toEqual(expected);
});

test.each([
  [
    "column 1: unknown field membr; did you mean member?",
    "Unknown field membr. Did you mean member?",
  ],
  ["no message has the member x", "No message has the member x"],
])("%s", (message, expected) => {
  expect(sentence(message)).toBe(expected);
});
