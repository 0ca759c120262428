import { expect, test } from "vitest";
import { Kind } from "../model/recording";
import { Traffic } from "../overview/traffic";
import { intervalTable } from "./intervals";

test("parts of time without messages are left out", () => {
  const traffic = new Traffic();
  traffic.add(0, Kind.Call);
  traffic.add(1e6, Kind.Return);
  traffic.add(900e6, Kind.Signal);
  expect(intervalTable(traffic, { from: 0, until: 1e9 }, 10).rows).toEqual([
    [0, 2, 20, 1, 1, 0, 0],
    [900e6, 1, 10, 0, 0, 0, 1],
  ]);
});
