import { expect, test } from "vitest";
import { commandsWith, messageNumber } from "./commands";
import type { KeyPart } from "./keys";

const run = (): void => {};
const PARTS: KeyPart[] = [
  {
    name: "Everywhere",
    bindings: [
      { keys: ["t"], about: "Switch the theme", words: "light dark", run },
      { keys: ["Escape"], about: "Clear the selection", when: () => false, run },
    ],
    notes: [{ keys: ["Home"], about: "First row" }],
  },
  {
    name: "Filter",
    bindings: [
      { keys: ["/"], about: "Edit the filter", words: "query search", run },
      { keys: [], about: "Clear the filter", run },
      { keys: [], about: "Search the theme", run },
    ],
    notes: [],
  },
];

test.each([
  ["", ["Switch the theme", "Edit the filter", "Clear the filter", "Search the theme"]],
  ["DARK", ["Switch the theme"]],
  ["filter edit", ["Edit the filter"]],
  ["every light", ["Switch the theme"]],
  ["search", ["Search the theme", "Edit the filter"]],
  ["the", ["Edit the filter", "Switch the theme", "Clear the filter", "Search the theme"]],
  ["selection", []],
  ["first", []],
])("commands are found by the words %j", (text, expected) => {
  expect(commandsWith(PARTS, text).map(({ about }) => about)).toEqual(expected);
});

test.each([
  ["12", 12],
  [" #1,234 ", 1234],
  ["0", undefined],
  ["", undefined],
  ["12 monkeys", undefined],
])("%j asks for message %s", (text, expected) => {
  expect(messageNumber(text)).toBe(expected);
});
