import { expect, test } from "vitest";
import { decode, Framer } from "./frame";

/** A frame with a column of bytes and one of floating-point numbers. */
function sample(): Uint8Array {
  const head = {
    kind: "sample",
    columns: [
      { name: "kind", type: "u8", length: 3 },
      { name: "at", type: "f64", length: 1 },
    ],
  };
  let json = JSON.stringify(head);
  json += " ".repeat((8 - (json.length % 8)) % 8);
  const bytes = new Uint8Array(8 + json.length + 16);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, bytes.length, true);
  view.setUint32(4, json.length, true);
  bytes.set(new TextEncoder().encode(json), 8);
  bytes.set([1, 2, 3], 8 + json.length);
  view.setFloat64(8 + json.length + 8, 0.5, true);
  return bytes;
}

test("columns are found behind the JSON", () => {
  const frame = decode(sample());
  expect(frame.kind).toBe("sample");
  expect([...(frame.columns.get("kind") ?? [])]).toEqual([1, 2, 3]);
  expect([...(frame.columns.get("at") ?? [])]).toEqual([0.5]);
});

test("frames are cut out wherever pieces end", () => {
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

test("what cannot be a frame is refused", () => {
  expect(() => new Framer().push(new Uint8Array([7, 0, 0, 0, 0, 0, 0, 0]))).toThrow("7 bytes");
});
