import { expect, test } from "vitest";
import { isEverything, selectedCall } from "./saveMessages";

test("a selection without limits includes all messages", () => {
  expect(isEverything({ query: " ", hidden: [] })).toBe(true);
  expect(isEverything({ query: "", hidden: [], from: undefined, until: undefined })).toBe(true);
  expect(isEverything({ query: "member:Get*", hidden: [] })).toBe(false);
  expect(isEverything({ query: "", hidden: [3] })).toBe(false);
  expect(isEverything({ query: "", hidden: [], from: 0 })).toBe(false);
  expect(isEverything({ query: "", hidden: [], until: 5 })).toBe(false);
});

test("a row is selected by its message number", () => {
  expect(selectedCall(0)).toEqual({ query: "#1", hidden: [] });
});
