import { expect, test } from "vitest";
import { Recording } from "../model/recording";
import { messagesFrame, peerOf } from "../model/testing";
import { BINS, binOf, binStart, type HistogramMeasure, Spreads } from "./histograms";

test.each<[number, HistogramMeasure, number]>([
  [0, "durations", 0],
  [999, "durations", 0],
  [1e3, "durations", 0],
  [1e6, "durations", 12],
  [1e20, "durations", BINS - 1],
  [100, "sizes", 4],
])("%d of %s is in bin %d", (value, measure, expected) => {
  expect(binOf(value, measure)).toBe(expected);
});

test("each bin begins at the end of the one before", () => {
  for (let bin = 1; bin < BINS; bin++) {
    const start = binStart(bin, "durations");
    expect([binOf(start * 1.001, "durations"), binOf(start * 0.999, "durations")]).toEqual([
      bin,
      bin - 1,
    ]);
  }
});

/** Two calls with returns after 1 ms and 20 ms, one failed call, and a signal. */
function recording(): Recording {
  const strings = ["", "org.x", "org.x.Mail", "Get", "Changed"];
  const rows = [
    // at, kind, from, to, destination, member, call, size
    [0, 1, 0, 1, 1, 3, ABSENT, 100],
    [1e6, 2, 1, 0, 0, 0, 0, 200],
    [2e6, 1, 0, 1, 1, 3, ABSENT, 100],
    [22e6, 2, 1, 0, 0, 0, 2, 4000],
    [30e6, 1, 0, 1, 1, 3, ABSENT, 90],
    [31e6, 3, 1, 0, 0, 0, 4, 70],
    [32e6, 4, 1, ABSENT, 0, 4, ABSENT, 50],
  ];
  const column = (at: number): number[] => rows.map((row) => row[at] as number);
  const head = { strings, peers: [":1.1", ":1.2"].map((unique, id) => peerOf(id, unique)) };
  const columns = {
    at: Float64Array.from(column(0)),
    kind: Uint8Array.from(column(1)),
    from: Uint32Array.from(column(2)),
    to: Uint32Array.from(column(3)),
    destination: Uint32Array.from(column(4)),
    interface: Uint32Array.from(column(5), (member) => (member === 0 ? 0 : 2)),
    member: Uint32Array.from(column(5)),
    answers: Uint32Array.from(rows, ([, , , , , , call], row) =>
      call === ABSENT ? ABSENT : row - (call ?? 0),
    ),
    size: Uint32Array.from(column(7)),
  };
  const found = new Recording();
  found.apply(messagesFrame(rows.length, head, columns));
  return found;
}

const ABSENT = 0xffffffff;

function spreads(measure: HistogramMeasure, span?: { from: number; until: number }): Spreads {
  const found = new Spreads(recording(), measure, span);
  for (let row = 0; row < 7; row++) found.add(row);
  found.finish();
  return found;
}

function count(bins: Uint32Array | undefined): number | undefined {
  return bins?.reduce((sum, one) => sum + one, 0);
}

test("durations include only returned calls and the slowest one", () => {
  const found = spreads("durations").get("org.x.Mail.Get", "org.x", "call");
  expect([count(found?.bins), found?.largest]).toEqual([2, 2]);
  expect(found?.bins[binOf(20e6, "durations")]).toBe(1);
});

test("sizes are separated by message type", () => {
  const found = spreads("sizes");
  const of = (type: string, service = "org.x") => found.get("org.x.Mail.Get", service, type);
  expect(["call", "return", "error"].map((type) => count(of(type)?.bins))).toEqual([3, 2, 1]);
  expect(of("return")?.largest).toBe(3);
  expect(count(found.get("org.x.Mail.Changed", ":1.2", "signal")?.bins)).toBe(1);
});

test("messages outside of the time range are not counted", () => {
  const found = spreads("durations", { from: 1e6, until: 30e6 });
  expect(count(found.get("org.x.Mail.Get", "org.x", "call")?.bins)).toBe(1);
});
