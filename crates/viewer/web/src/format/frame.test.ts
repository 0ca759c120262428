import { expect, test } from "vitest";
import { GrowingColumn } from "../model/column";
import { decode, Framer } from "./frame";

/** A frame with a column of bytes and a column of floating-point numbers. */
function sample(): Uint8Array<ArrayBuffer> {
  const columns = [
    { name: "kind", type: "u8", length: 3 },
    { name: "at", type: "f64", length: 1 },
  ];
  const half = new Uint8Array(Float64Array.of(0.5).buffer);
  return frameOf({ kind: "reset", before: 7, columns }, [1, 2, 3, 0, 0, 0, 0, 0, ...half]);
}

function frameOf(head: object, data: readonly number[]): Uint8Array<ArrayBuffer> {
  let json = JSON.stringify(head);
  json += " ".repeat((8 - (json.length % 8)) % 8);
  const bytes = new Uint8Array(8 + json.length + Math.ceil(data.length / 8) * 8);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, bytes.length, true);
  view.setUint32(4, json.length, true);
  bytes.set(new TextEncoder().encode(json), 8);
  bytes.set(data, 8 + json.length);
  return bytes;
}

test("columns follow the JSON head", () => {
  const frame = decode(sample());
  expect(frame.head).toMatchObject({ kind: "reset", before: 7 });
  expect([...(frame.columns.get("kind") ?? [])]).toEqual([1, 2, 3]);
  expect([...(frame.columns.get("at") ?? [])]).toEqual([0.5]);
});

test.each([
  [{ type: "same", length: 2, value: 7 }, [], [7, 7]],
  [{ type: "same", length: 2, value: 300 }, [], [300, 300]],
  [{ type: "same", length: 1, value: 0xffffffff }, [], [0xffffffff]],
  [{ type: "i8", length: 3 }, [0, 127, 255], [0, 127, 0xffffffff]],
  [{ type: "i16", length: 2 }, [0, 1, 255, 255], [256, 0xffffffff]],
  [{ type: "u32", length: 1 }, [0, 0, 1, 0], [65_536]],
])("packed numbers %o are unpacked", (column, data, expected) => {
  const { columns } = decode(
    frameOf({ kind: "reset", before: 0, columns: [{ name: "from", ...column }] }, data),
  );
  const from = new GrowingColumn(Uint32Array);
  from.append(columns.get("from") ?? new Uint8Array(0));
  expect([...from.slice(0, from.length)]).toEqual(expected);
});

test("frames are complete wherever the stream is split", () => {
  const two = new Uint8Array([...sample(), ...sample()]);
  for (let size = 1; size <= two.length; size++) {
    const framer = new Framer();
    let found = 0;
    for (let at = 0; at < two.length; at += size) {
      found += framer.push(two.subarray(at, at + size)).length;
    }
    expect([size, found, framer.isInside]).toEqual([size, 2, false]);
  }
});

test.each([
  [{ kind: "reset", columns: [] }, "not a valid FrameHead: .before"],
  [{ kind: "reset", before: 0, columns: [{ name: "at", type: "f64" }] }, "ColumnHead: .length"],
  [
    { kind: "reset", before: 0, columns: [{ name: "x", type: "u8", length: 0 }] },
    "ColumnHead: .name",
  ],
  [
    { kind: "reset", before: 0, columns: [{ name: "at", type: "f64", length: 2 }] },
    "extends beyond",
  ],
  [{ kind: "hello", version: 2 }, "uses version 2 of the format"],
])("the frame %j is rejected", (head, problem) => {
  expect(() => decode(frameOf(head, [0, 0, 0, 0, 0, 0, 0, 0]))).toThrow(problem);
});

test("a frame with an invalid length is rejected", () => {
  expect(() => new Framer().push(new Uint8Array([7, 0, 0, 0, 0, 0, 0, 0]))).toThrow("7 bytes");
});
