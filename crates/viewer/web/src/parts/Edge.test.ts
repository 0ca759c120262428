import { expect, test } from "vitest";
import { afterKey } from "./Edge";

test.each<[string, "left" | "right", { width: number | undefined } | undefined]>([
  ["ArrowRight", "right", { width: 320 }],
  ["ArrowLeft", "right", { width: 280 }],
  ["ArrowRight", "left", { width: 280 }],
  ["ArrowLeft", "left", { width: 320 }],
  ["Home", "left", { width: 100 }],
  ["End", "right", { width: 500 }],
  ["Enter", "right", { width: undefined }],
  ["Tab", "right", undefined],
])("%s at an edge that widens to the %s", (key, wider, expected) => {
  expect(afterKey(key, { width: 300, least: 100, most: 500, wider })).toEqual(expected);
});
