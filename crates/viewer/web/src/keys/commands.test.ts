import { expect, test } from "vitest";
import { commandsWith, messageNumber } from "./commands";
import type { KeyPart } from "./keys";

const run = (): void => {};
const PARTS: KeyPart[] = [
  {
    name: "Everywhere",
    bindings: [
      { keys: ["t"], about: "light or dark", run },
      { keys: ["Escape"], about: "unselects the message", when: () => false, run },
    ],
  },
  { name: "Query", bindings: [{ keys: ["/"], about: "writes a query", run }] },
];

test.each([
  ["", ["light or dark", "writes a query"]],
  ["DARK", ["light or dark"]],
  ["query writes", ["writes a query"]],
  ["every light", ["light or dark"]],
  ["unselects", []],
])("what has the words %j", (text, expected) => {
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
