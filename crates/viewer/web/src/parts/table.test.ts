import { expect, test } from "vitest";
import type { TableData } from "../generated/protocol";
import { type Sort, shown, sorted, withoutEmptyColumns } from "./table";

const TABLE: TableData = {
  columns: [
    { name: "name", key: "name", unit: "text" },
    { name: "p90", key: "p90_ns", unit: "time" },
  ],
  rows: [
    ["b", 2],
    ["a", null],
    ["c", 1],
  ],
  notes: [],
};

test.each<[Sort | undefined, number[]]>([
  [undefined, [0, 1, 2]],
  [{ column: 0, descending: false }, [1, 0, 2]],
  [{ column: 0, descending: true }, [2, 0, 1]],
  [{ column: 1, descending: false }, [2, 0, 1]],
  [{ column: 1, descending: true }, [0, 2, 1]],
])("rows sorted by %o", (sort, expected) => {
  expect(sorted(TABLE, sort)).toEqual(expected);
});

test("cells are formatted by the unit of their column", () => {
  expect(shown(1_200_000, "time")).toBe("1.20 ms");
  expect(shown(3.26, "mean")).toBe("3.3");
  expect(shown(4, "mean")).toBe("4.0");
  expect(shown(null, "time")).toBe("");
  expect(shown("<b>", "text")).toBe("<b>");
});

test("columns that are empty in all rows are left out", () => {
  const columns = ["a", "b", "c", "d"].map((key) => ({ name: key, key, unit: "count" as const }));
  const rows = [
    ["", null, 0, null],
    ["", 1, 0, null],
  ];
  const { columns: left, rows: cells } = withoutEmptyColumns({ columns, rows, notes: [] });
  expect(left.map(({ key }) => key)).toEqual(["b", "c"]);
  expect(cells).toEqual([
    [null, 0],
    [1, 0],
  ]);
});
