import { expect, test } from "vitest";
import { csvOf } from "./csv";

test("fields with special characters are quoted, and rows have the given order", () => {
  const table = {
    columns: [
      { name: "a,b", key: "a,b", unit: "text" as const },
      { name: "n", key: "n_per_s", unit: "rate" as const },
    ],
    rows: [
      ['say "no"\n', 0.25],
      ["plain text", null],
    ],
    notes: [],
  };
  expect(csvOf(table, [1, 0])).toBe('"a,b",n_per_s\nplain text,\n"say ""no""\n",0.25\n');
});
