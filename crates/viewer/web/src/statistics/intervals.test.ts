import { expect, test } from "vitest";
import { Kind } from "../model/recording";
import { Traffic } from "../overview/traffic";
import { intervalsOf } from "./intervals";

const traffic = new Traffic();
traffic.add(0, Kind.Call);
traffic.add(1e6, Kind.Return);
traffic.add(900e6, Kind.Signal);

test("intervals without messages are left out", () => {
  const { table, length } = intervalsOf(traffic, { from: 0, until: 1e9 }, 10);
  expect(length).toBe(100e6);
  expect(table.rows).toEqual([
    [0, 2, 20, 1, 1, 0, 0],
    [900e6, 1, 10, 0, 0, 0, 1],
  ]);
});

test("intervals are whole buckets with whole counts", () => {
  const { table, length } = intervalsOf(traffic, { from: 100, until: 1e9 + 7 }, 7);
  expect(length % traffic.width).toBe(0);
  expect(table.rows.map((row) => row[1])).toEqual([2, 1]);
});
