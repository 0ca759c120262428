import { expect, test } from "vitest";
import { Kind } from "../model/recording";
import { call, peer, recordingOf, reply, signal } from "../sequence/model/sample";
import { outcomeOf } from "./outcome";
import { withReplies } from "./showMessages";

test.each([
  ["to:org.example.Slow member:Wait dur>100ms", "name:org.example.Slow member:Wait dur>100ms"],
  ["from:gdbus dur>50ms", "name:gdbus dur>50ms"],
  ['from:"gdbus (:1.2)" to::1.3 member:Get', 'name:"gdbus (:1.2)" name::1.3 member:Get'],
  ["(to:a.b or arg0:a.b) member:Get", "(name:a.b or arg0:a.b) member:Get"],
  ["from:a type:signal member:Changed", "from:a type:signal member:Changed"],
  ["from:a size>64KiB", "from:a size>64KiB"],
  ["to:org.freedesktop.DBus", "to:org.freedesktop.DBus"],
])("%j with replies of calls is %j", (query, expected) => {
  expect(withReplies(query)).toBe(expected);
});

test("a call and its reply show the outcome of the call", () => {
  const recording = recordingOf(
    [
      call(0, 0, 1, "Get"),
      reply(601e6, 1, 0, 0),
      call(700e6, 0, 1, "Fail"),
      { at: 703e6, kind: Kind.Error, from: 1, to: 0, call: 2 },
      call(800e6, 0, 1, "Never"),
      signal(900e6, 1, "Changed"),
    ],
    [peer(0), peer(1)],
  );
  const outcomes = Array.from({ length: 6 }, (_, row) => outcomeOf(recording, row));
  expect(outcomes).toEqual([
    "601 ms",
    "601 ms",
    "error after 3.00 ms",
    "error after 3.00 ms",
    "no reply",
    "",
  ]);
});
