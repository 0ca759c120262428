import { expect, test } from "vitest";
import { shortNames, sidesOf } from "./sides";

test.each([
  [
    ["a.pcap", "b.pcap"],
    ["a.pcap", "b.pcap"],
  ],
  [
    ["/x/one/a", "/x/two/a"],
    ["one/a", "two/a"],
  ],
  [
    ["/x/a", "/x/a"],
    ["/x/a", "/x/a"],
  ],
])("the short names of %o are %o", (paths, expected) => {
  expect(shortNames(paths)).toEqual(expected);
});

const bus = (label: string, file: number) => ({
  label,
  file,
  address: null,
  redacted: false,
  method: "trace" as const,
});

test("files are compared with all of their buses", () => {
  const buses = [bus("session", 0), bus("session", 1), bus("system", 0)];
  expect(sidesOf({ files: ["a", "b"], buses })).toEqual([
    { name: "a", buses: [0, 2] },
    { name: "b", buses: [1] },
  ]);
});

test("buses of a single file are compared with each other", () => {
  const buses = [bus("session", 0), bus("system", 0)];
  expect(sidesOf({ files: ["a"], buses }).map(({ name }) => name)).toEqual(["session", "system"]);
  expect(sidesOf({ files: ["a"], buses: [] })).toEqual([]);
});
