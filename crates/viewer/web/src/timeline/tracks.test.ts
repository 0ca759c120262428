import { expect, test } from "vitest";
import type { MessagesHead, Peer } from "../generated/protocol";
import { NONE, Recording } from "../model/recording";
import { messagesFrame, peerOf } from "../model/testing";
import { visibleOf } from "../state/visible";
import { hitAt, neighbor } from "./hit";
import { nameOf } from "./label";
import { LANE, layoutOf, RULER, screenTop } from "./layout";
import { finished } from "./sorting";
import { lanesOf } from "./testing";
import { type Track, type Tracks, tracksOf } from "./tracks";

const CALL = 1;
const RETURN = 2;
const ERROR = 3;
const SIGNAL = 4;

interface Message {
  readonly at: number;
  readonly kind: number;
  readonly from: number;
  readonly to?: number;
  readonly partner?: number;
  /** Nanoseconds until it was routed, and until it was written. */
  readonly bus?: readonly [number, number];
}

/** A recording of connections 0 (process 7), 1 (process 8) and 2 (process 7). */
function recordingOf(messages: readonly Message[]): Recording {
  const u32 = (of: (message: Message) => number | undefined): Uint32Array =>
    Uint32Array.from(messages, (message) => of(message) ?? NONE);
  const u8 = (of: (message: Message) => number): Uint8Array => Uint8Array.from(messages, of);
  const text = (place: number): Uint32Array => new Uint32Array(messages.length).fill(place);
  const columns = {
    at: Float64Array.from(messages, ({ at }) => at),
    kind: u8(({ kind }) => kind),
    from: u32(({ from }) => from),
    to: u32(({ to }) => to),
    member: text(1),
    answers: Uint32Array.from(messages, answersOf),
    size: text(100),
    routed: u32(({ bus }) => bus?.[0]),
    delivered: u32(({ bus }) => bus?.[1]),
  };
  const recording = new Recording();
  recording.apply(messagesFrame(messages.length, HEAD, columns));
  return recording;
}

/** The number of messages between a reply and its call. */
function answersOf({ kind, partner }: Message, row: number): number {
  return kind === CALL || partner === undefined ? NONE : row - partner;
}

const peer = (id: number, pid: number): Peer =>
  peerOf(id, `:1.${id}`, {
    process: { pid, uid: 0, program: `program${pid}`, exe: null, command: [], unit: null },
  });
const HEAD: Partial<MessagesHead> = {
  strings: ["", "Get"],
  peers: [peer(0, 7), peer(1, 8), peer(2, 7)],
  buses: [{ label: "session", address: null, method: "trace", redacted: false, file: 0 }],
};

function tracksFor(messages: readonly Message[], shown = messages.map(() => true)): Tracks {
  const bits = new Uint8Array(Math.ceil(shown.length / 8));
  for (const [row, isShown] of shown.entries()) {
    if (isShown) bits[row >> 3] = (bits[row >> 3] ?? 0) | (1 << (row & 7));
  }
  return finished(tracksOf(recordingOf(messages), visibleOf(messages.length, bits)));
}

/** Spans of tracks as text, such as `program7 waits 0..50`, with `!` for errors. */
function spanTexts(tracks: Tracks): string[] {
  const sections = tracks.tracks.flatMap(({ title, sections }) =>
    sections.map(({ role, lanes }) => {
      const spans = Array.from(lanes.row, (_, place) => {
        const isError = lanes.errorsIn(place, place + 1) > 0;
        return `${lanes.from[place]}..${lanes.until[place]}${isError ? "!" : ""}`;
      });
      return `${title} ${role} ${spans.join(" ")}`;
    }),
  );
  return sections.sort();
}

const CALLED: Message = { at: 0, kind: CALL, from: 0, to: 1, partner: 1 };
const RETURNED: Message = { at: 50, kind: RETURN, from: 1, to: 0, partner: 0 };
const PAIR: readonly Message[] = [CALLED, RETURNED];

test.each<[string, readonly Message[], string[]]>([
  ["a call", PAIR, ["program7 waits 0..50", "program8 serves 0..50"]],
  [
    "a call through a bus that has recorded itself",
    [
      { ...CALLED, bus: [2, 5] },
      { ...RETURNED, bus: [1, 4] },
    ],
    ["program7 waits 0..54", "program8 serves 5..50", "the bus bus 0..5 50..54"],
  ],
  [
    "an error",
    [CALLED, { ...RETURNED, kind: ERROR }],
    ["program7 waits 0..50!", "program8 serves 0..50!"],
  ],
  [
    "a call that is never answered",
    [
      { at: 3, kind: CALL, from: 0, to: 1 },
      { at: 3e9, kind: CALL, from: 2, to: 1 },
    ],
    ["program7 sends 3000000000..3000000000", "program7 waits 3..3000000000!"],
  ],
  [
    "a signal of another connection of a process",
    [{ at: 3, kind: SIGNAL, from: 2 }],
    ["program7 sends 3..3"],
  ],
  ["a reply from before", [{ at: 3, kind: RETURN, from: 1, to: 0 }], []],
])("%s is on its tracks", (_, messages, expected) => {
  expect(spanTexts(tracksFor(messages))).toEqual(expected);
});

test("a call is drawn once if its call or reply is displayed", () => {
  const whole = ["program7 waits 0..50", "program8 serves 0..50"];
  for (const shown of [
    [true, true],
    [true, false],
    [false, true],
  ]) {
    expect(spanTexts(tracksFor(PAIR, shown))).toEqual(whole);
  }
  expect(spanTexts(tracksFor(PAIR, [false, false]))).toEqual([]);
});

/** Tracks with these numbers of lanes. */
function tracksWith(...lanes: number[]): Track[] {
  return lanes.map((count, place) => {
    const spans = Array.from({ length: count }, (): [number, number] => [0, 100]);
    const sections = [{ role: "waits", lanes: lanesOf(spans) }] as const;
    const counts = { messages: count, longestWait: 100 };
    const names = { key: `track ${place}`, title: "", subtitle: "", about: "" };
    return { ...names, ...counts, isBus: false, sections };
  });
}

test("pinned tracks do not scroll, collapsed tracks are low", () => {
  const layout = layoutOf(tracksWith(5, 5, 5), {
    shown: [0, 1, 2],
    pinned: new Set(["track 2"]),
    collapsed: new Set(["track 0"]),
    hasProcessors: false,
    viewHeight: 600,
  });
  expect(layout.placed.map(({ track }) => track.key)).toEqual(["track 2", "track 0", "track 1"]);
  const [pinned, collapsed, usual] = layout.placed;
  if (pinned === undefined || collapsed === undefined || usual === undefined) throw new Error();
  expect(screenTop(layout, pinned, 1000)).toBe(RULER);
  expect(screenTop(layout, collapsed, 10)).toBe(RULER + pinned.height - 10);
  expect(usual.height).toBeGreaterThan(5 * LANE);
  expect(collapsed.height).toBeLessThan(2 * LANE);
});

test.each<[number, number, number | undefined]>([
  [50, RULER + 8, 0],
  [50, RULER + 8 + LANE, 1],
  [101, RULER + 8, 0],
  [150, RULER + 8, undefined],
  [50, RULER - 1, undefined],
  [50, 590, undefined],
])("at %d, %d is the row %o", (x, y, expected) => {
  const none = new Set<string>();
  const layout = layoutOf(tracksWith(3), {
    shown: [0],
    pinned: none,
    collapsed: none,
    hasProcessors: false,
    viewHeight: 600,
  });
  const stretch = { from: 0, until: 200, width: 200 };
  expect(hitAt(layout, stretch, 0, { x, y })?.row).toBe(expected);
});

test("steps visit all lanes in the order of time, and back", () => {
  const lanes = lanesOf([
    [0, 10],
    [2, 4],
    [2, 9],
    [5, 6],
    [20, 30],
  ]);
  const walk = (start: number, direction: 1 | -1): number[] => {
    const rows: number[] = [];
    for (
      let place: number | undefined = start;
      place !== undefined;
      place = neighbor(lanes, place, direction)
    ) {
      rows.push(lanes.row[place] as number);
    }
    return rows;
  };
  const first = lanes.row.indexOf(0);
  const last = lanes.row.indexOf(4);
  expect(walk(first, 1)).toEqual([0, 1, 2, 3, 4]);
  expect(walk(last, -1)).toEqual([4, 3, 2, 1, 0]);
});

test("a reply has the label of its call", () => {
  expect(nameOf(recordingOf(PAIR), 1)).toBe("Get");
});

test("short-lived processes of a program share a track until it is expanded", () => {
  const recording = recordingOf([
    { at: 0, kind: CALL, from: 0, to: 1 },
    { at: 1, kind: CALL, from: 2, to: 1 },
    { at: 2, kind: CALL, from: 3, to: 1 },
    { at: 9, kind: SIGNAL, from: 1 },
  ]);
  for (const id of [0, 2, 3]) {
    const process = { pid: 20 + id, uid: 0, program: "ask", exe: null, command: [], unit: null };
    const known = { names: [], why: null, arrived: null, recorder: false };
    const unique = `:1.${id}`;
    recording.peers[id] = { id, bus: 0, unique, label: "ask", left: 5, process, ...known };
  }
  const all = visibleOf(4, Uint8Array.of(15));
  const titles = (merges: "programs" | "nothing", expanded: readonly string[] = []): string[] =>
    finished(tracksOf(recording, all, { merges, expanded: new Set(expanded) })).tracks.map(
      ({ title, group }) => `${title}${group === undefined ? "" : ` ${group.isMerged}`}`,
    );
  expect(titles("programs")).toEqual(["ask × 3 true", "program8"]);
  expect(titles("programs", ["program 0/ask"])).toEqual([
    "ask false",
    "program8",
    "ask false",
    "ask false",
  ]);
  expect(titles("nothing")).toEqual(["ask", "program8", "ask", "ask"]);
  const tracks = finished(tracksOf(recording, all, { merges: "programs", expanded: new Set() }));
  expect(new Set([0, 2, 3].map((id) => tracks.trackOf(id))).size).toBe(1);
  // They waited until they disconnected.
  expect(spanTexts(tracks)).toContain("ask × 3 waits 0..5! 1..5! 2..5!");
});
