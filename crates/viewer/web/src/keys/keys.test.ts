import { expect, test } from "vitest";
import {
  bindingFor,
  isPressed,
  type KeyPart,
  keyName,
  type Pressed,
  parseChord,
  sheetOf,
} from "./keys";

function press(key: string, held: string[] = []): Pressed {
  return {
    key,
    ctrlKey: held.includes("Ctrl"),
    metaKey: held.includes("Meta"),
    altKey: held.includes("Alt"),
    shiftKey: held.includes("Shift"),
  };
}

test.each<[string, Pressed, boolean]>([
  ["t", press("t"), true],
  ["t", press("T", ["Shift"]), false],
  ["t", press("t", ["Ctrl"]), false],
  ["t", press("t", ["Alt"]), false],
  ["Shift+G", press("G", ["Shift"]), true],
  ["?", press("?", ["Shift"]), true],
  ["?", press("?"), true],
  ["/", press("/", ["Shift"]), true],
  ["+", press("+", ["Shift"]), true],
  ["Ctrl++", press("+", ["Ctrl"]), true],
  ["Ctrl+Shift+P", press("P", ["Ctrl", "Shift"]), true],
  ["Ctrl+Shift+P", press("P", ["Meta", "Shift"]), true],
  ["Ctrl+Shift+P", press("p", ["Ctrl"]), false],
  ["ArrowUp", press("ArrowUp"), true],
  ["ArrowUp", press("ArrowUp", ["Shift"]), false],
])("%s when %o is pressed: %s", (text, event, expected) => {
  expect(isPressed(parseChord(text), event)).toBe(expected);
});

test("the part registered last has priority while its action is available", () => {
  let isOpen = false;
  const run = (): void => {};
  const page = { keys: ["Escape"], about: "unselects", run };
  const panel = { keys: ["Escape"], about: "closes", when: () => isOpen, run };
  const parts: KeyPart[] = [
    { name: "page", bindings: [page], notes: [] },
    { name: "panel", bindings: [panel], notes: [] },
  ];
  expect(bindingFor(parts, press("Escape"))).toBe(page);
  isOpen = true;
  expect(bindingFor(parts, press("Escape"))).toBe(panel);
  expect(bindingFor(parts, press("x"))).toBeUndefined();
});

test.each([
  ["ArrowUp", "↑"],
  ["Ctrl+Shift+P", "Ctrl+Shift+P"],
  [" ", "Space"],
  ["Ctrl++", "Ctrl++"],
  ["+", "+"],
])("the name of %j is %s", (text, expected) => {
  expect(keyName(text)).toBe(expected);
});

test("the overview merges parts of one name and omits actions without keys", () => {
  const run = (): void => {};
  const named = (about: string, keys: string[]) => ({ keys, about, run });
  const sheet = sheetOf([
    { name: "page", bindings: [named("Save", []), named("Edit", ["/"])], notes: [] },
    { name: "palette only", bindings: [named("Export", [])], notes: [] },
    { name: "page", bindings: [], notes: [{ keys: ["Home"], about: "First row" }] },
    { name: "page", bindings: [], notes: [{ keys: ["Home"], about: "First row" }] },
  ]);
  expect(sheet.map(([name, keys]) => [name, keys.map(({ about }) => about)])).toEqual([
    ["page", ["Edit", "First row"]],
  ]);
});
