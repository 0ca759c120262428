import { expect, test } from "vitest";
import { type Missing, missingWords, NOTHING_MISSING } from "./missing";

test.each<[Partial<Missing>, string[]]>([
  [{}, []],
  [{ overrun: 1 }, ["1 message is not shown: the bus was faster than the program could read"]],
  [
    { overrun: 12_345, skipped: 2 },
    [
      "12,345 messages are not shown: the bus was faster than the program could read",
      "2 messages are not shown: the program was faster than this page",
    ],
  ],
  [{ disconnected: 1 }, ["the bus closed the connection; nothing after that was captured"]],
  [{ disconnected: 3 }, ["the bus closed the connection 3 times; nothing after that was captured"]],
])("%o", (missing, expected) => {
  expect(missingWords({ ...NOTHING_MISSING, ...missing })).toEqual(expected);
});
