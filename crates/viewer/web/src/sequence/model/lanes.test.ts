import { expect, test } from "vitest";
import type { Peer } from "../../generated/protocol";
import { NONE } from "../../model/recording";
import { clockOf } from "./clock";
import { columnsOf, DRIVER } from "./columns";
import { COPIES_MAX, Followed, fixedLanes, type Lanes, reusedLanes, type Staged } from "./lanes";
import { linesOf } from "./runs";
import { ALONE, allRows, call, peer, recordingOf, reply, type Sample, signal } from "./sample";
import { Tally } from "./tally";

const IDS = [1, 2, 3, 4, 5, 6, 7, 8, 9];
const PEERS = [peer(0, { unique: DRIVER, label: DRIVER }), ...IDS.map((id) => peer(id))];

function staged(samples: readonly Sample[], peers: readonly Peer[] = PEERS): Staged {
  const recording = recordingOf(samples, peers);
  const rows = allRows(recording);
  const tally = new Tally();
  tally.count(recording, rows, 0);
  const lines = linesOf(recording, rows, { folds: "nothing", unfolded: new Set() });
  const clock = clockOf(recording, rows, undefined, 0);
  return { recording, rows, lines, clock, columns: columnsOf(recording, tally, ALONE) };
}

/** Calls without replies, one per line. */
function calls(count: number, from: number, to: number): Sample[] {
  return Array.from({ length: count }, () => call(0, from, to, "Get"));
}

/** The messages of all parts, one after the other in time. */
function timed(...parts: readonly Sample[][]): Sample[] {
  return parts.flat().map((sample, at) => ({ ...sample, at }));
}

/** The lane of a connection at a line. */
function laneAt(lanes: Lanes, { columns }: Staged, id: number, line: number): number {
  return lanes.laneAt(columns.ofPeer[id] as number, line);
}

test("later connections reuse the lanes of earlier ones", () => {
  const given = staged(timed(calls(100, 1, 2), calls(100, 3, 2), calls(100, 5, 6)));
  const lanes = reusedLanes(given, "screen");
  expect(lanes.count).toBe(4);
  // The column with the most messages is on the left.
  expect([1, 2].map((id) => laneAt(lanes, given, id, 50))).toEqual([1, 0]);
  // The lane of a column is kept after its last message, for the mark of its end.
  expect([2, 3].map((id) => laneAt(lanes, given, id, 100))).toEqual([0, 2]);
  expect([5, 6].map((id) => laneAt(lanes, given, id, 200))).toEqual([1, 3]);
  expect(laneAt(lanes, given, 1, 150)).toBe(NONE);
});

test("a column keeps its lane during a pause of less than a screen", () => {
  const given = staged(timed(calls(1, 1, 2), calls(50, 3, 4), calls(1, 1, 2)));
  const lanes = reusedLanes(given, "screen");
  expect([0, 40, 51].map((line) => laneAt(lanes, given, 1, line))).toEqual([2, 2, 2]);
});

test("a column keeps its lane from a call to a late reply", () => {
  const late = timed(calls(1, 1, 2), calls(300, 3, 4), [reply(0, 2, 1, 0)]);
  const given = staged(late);
  const lanes = reusedLanes(given, "screen");
  expect([0, 150, 301].map((line) => laneAt(lanes, given, 1, line))).toEqual([2, 2, 2]);
  expect([0, 150, 301].map((line) => laneAt(lanes, given, 2, line))).toEqual([3, 3, 3]);
});

test("a column returns to its former lane", () => {
  const given = staged(timed(calls(5, 1, 2), calls(200, 3, 4), calls(5, 2, 1)));
  const lanes = reusedLanes(given, "screen");
  const before = [1, 2].map((id) => laneAt(lanes, given, id, 0));
  expect([1, 2].map((id) => laneAt(lanes, given, id, 209))).toEqual(before);
});

test("the first lane is reserved for the bus", () => {
  const given = staged(timed(calls(5, 1, 2), calls(5, 3, 0), calls(200, 5, 6)));
  const lanes = reusedLanes(given, "screen");
  expect(laneAt(lanes, given, 0, 6)).toBe(0);
  expect(
    [1, 2, 5, 6].every((id) =>
      lanes.staysIn(0, 0, 300).every(({ column }) => column !== given.columns.ofPeer[id]),
    ),
  ).toBe(true);
});

test("on a time axis a column keeps one lane from its first to its last message", () => {
  const given = staged(timed(calls(5, 1, 2), calls(500, 3, 4), calls(5, 1, 2)));
  const lanes = reusedLanes(given, "whole");
  expect([0, 250, 509].map((line) => laneAt(lanes, given, 1, line))).toEqual([2, 2, 2]);
  expect(lanes.count).toBe(4);
});

test("copies with many recipients do not give lanes", () => {
  const few = [3, 4, 5, 6].slice(0, COPIES_MAX);
  const given = staged(
    timed([signal(0, 1, "Changed", [2, ...few])], [signal(0, 1, "Changed", few)]),
  );
  const lanes = reusedLanes(given, "screen");
  expect([1, 2, 3].map((id) => laneAt(lanes, given, id, 0))).toEqual([0, NONE, NONE]);
  expect(laneAt(lanes, given, 3, 1)).not.toBe(NONE);
});

test("messages added to a live diagram move no column", () => {
  const steps = [...Array(400).keys()].map((step) => {
    const pair = step % 37 === 0 ? [7, 8] : step % 11 === 0 ? [5, 6] : [1 + (step >> 7), 4];
    return calls(1, pair[0] as number, pair[1] as number);
  });
  const whole = timed(...steps);
  const last = staged(whole);
  const lanes = reusedLanes(last, "live");
  for (const length of [50, 120, 200, 333]) {
    const given = staged(whole.slice(0, length));
    const before = reusedLanes(given, "live");
    for (let line = 0; line < length; line++) {
      const from = whole[line]?.from as number;
      expect(laneAt(before, given, from, line)).toBe(laneAt(lanes, last, from, line));
    }
  }
});

test("incremental lanes equal lanes of all messages", () => {
  const random = randomOf(3);
  const samples = timed(
    Array.from({ length: 900 }, (_, at) => {
      const shift = Math.floor(at / 300);
      return call(
        0,
        1 + shift + Math.floor(random() * 3),
        2 + shift + Math.floor(random() * 3),
        "Get",
      );
    }),
  );
  for (const retention of ["screen", "live"] as const) {
    const followed = new Followed(retention);
    for (const length of [7, 8, 100, 101, 450, 900]) {
      const given = staged(samples.slice(0, length));
      const lanes = reusedLanes(given, retention, followed);
      const anew = reusedLanes(given, retention);
      expect(lanes.count).toBe(anew.count);
      for (let lane = 0; lane < anew.count; lane++) {
        expect(lanes.staysIn(lane, 0, length)).toEqual(anew.staysIn(lane, 0, length));
      }
    }
  }
});

test("a live diagram frees the lane of a disconnected connection immediately", () => {
  const peers = PEERS.map((one) => (one.id === 1 ? { ...one, left: 3 } : one));
  const given = staged(timed(calls(3, 1, 2), calls(10, 3, 2), calls(2, 5, 2)), peers);
  const lanes = reusedLanes(given, "live");
  expect(laneAt(lanes, given, 5, 13)).toBe(0);
});

test("columns never share a lane at the same time, and each has one", () => {
  const random = randomOf(7);
  const samples = timed(
    Array.from({ length: 3000 }, (_, at) => {
      const shift = Math.floor(at / 1000) * 3;
      return call(
        0,
        1 + shift + Math.floor(random() * 2),
        2 + shift + Math.floor(random() * 2),
        "Get",
      );
    }),
  );
  const given = staged(samples);
  for (const retention of ["screen", "live", "whole"] as const) {
    const lanes = reusedLanes(given, retention);
    const wrong = samples.filter(({ from, to = 0 }, line) => {
      const [one, other] = [from, to].map((id) => laneAt(lanes, given, id, line));
      const isSame = one === other;
      return one === NONE || other === NONE || isSame !== (from === to);
    });
    expect(wrong).toEqual([]);
    for (let lane = 0; lane < lanes.count; lane++) {
      const stays = lanes.staysIn(lane, 0, samples.length);
      for (const [at, stay] of stays.slice(1).entries()) {
        expect(stay.from).toBeGreaterThan(stays[at]?.until ?? 0);
      }
    }
  }
});

test("without reuse each column has its own position", () => {
  const lanes = fixedLanes(3);
  expect([0, 1, 2].map((column) => lanes.laneAt(column, 1_000_000))).toEqual([0, 1, 2]);
  expect(lanes.neededIn(5, 10)).toBe(3);
  expect(lanes.usual).toBe(3);
});

test("many columns at one time do not make all columns narrow", () => {
  // Each connection has two messages, so that all are active at the same time.
  const crowd = [...IDS, ...IDS].flatMap((id) => calls(1, 1, id));
  const given = staged(timed(crowd, calls(2000, 1, 2)));
  const lanes = reusedLanes(given, "screen");
  expect(lanes.count).toBe(9);
  expect(lanes.usual).toBeLessThan(4);
});

/** Pseudo-random numbers from 0 to 1, the same in each run. */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return state / 2 ** 31;
  };
}
