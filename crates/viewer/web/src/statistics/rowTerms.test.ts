import { expect, test } from "vitest";
import type { Cell } from "../generated/protocol";
import { Recording } from "../model/recording";
import { termOfRow } from "./rowTerms";

const recording = new Recording();
recording.peers.push({
  id: 0,
  bus: 0,
  unique: ":1.9",
  names: [],
  label: "demo-poller (:1.9)",
  process: null,
  arrived: null,
  left: null,
  why: null,
  recorder: false,
});

test.each<[string, Record<string, Cell>, string | undefined]>([
  [
    "member",
    { member: "org.x.Mail.Get", service: "org.x.Mail" },
    "interface:org.x.Mail member:Get name:org.x.Mail",
  ],
  ["member", { member: "Get", service: "demo-poller (:1.9)" }, "member:Get name::1.9"],
  ["member", { member: "(reply to no recorded call)", service: "x" }, undefined],
  [
    "member-size",
    { member: "a.B.C", service: "(unknown)", type: "return" },
    "type:return interface:a.B member:C",
  ],
  [
    "dispatch",
    { member: "a.B.C", service: "(unknown)", type: "signal" },
    "type:signal interface:a.B member:C",
  ],
  ["dispatch", { member: "(all)", service: null, type: null }, undefined],
  ["sender", { sender: "demo-poller (:1.9)" }, "from::1.9"],
  ["process", { process: "demo[42]" }, "pid:42"],
  ["process", { process: "(unknown)" }, undefined],
  ["pair", { from: "a.b", to: "(all)" }, "from:a.b type:signal"],
  ["interface", { interface: "(none)" }, undefined],
  ["size", { from: 101, to: 316 }, "size>=101 size<=316"],
  ["error", { error: "a.Error.B" }, "type:error error:a.Error.B"],
  ["replies", { number: 12 }, "number:12"],
  ["switches", { process: "x" }, undefined],
])("a row of %s with %o is selected by %s", (subject, cells, expected) => {
  const columns = Object.keys(cells).map((key) => ({ name: key, key, unit: "text" as const }));
  const table = { columns, rows: [Object.values(cells)], notes: [] };
  expect(termOfRow(recording, subject, { table, place: 0 })).toBe(expected);
});
