import { expect, test } from "vitest";
import { NONE, type Recording } from "../../model/recording";
import { call, type Sample, signal } from "../../sequence/model/sample";
import { lineOfRow, rowOfLine, type Scene } from "../../sequence/model/scene";
import type { Alignment } from "../../state/comparison";
import { visibleOf } from "../../state/visible";
import { type Built, build, type ComparisonRequest, timesOf } from "./build";
import { differenceOf, noteOf } from "./difference";
import { pairUp } from "./pairing";
import { BEFORE_AND_AFTER, bothOf, replyTo } from "./sample";
import { type At, stepDifferent, stepLine } from "./steps";

const MAIL = 1;
const ABORT = new AbortController().signal;
const MS = 1_000_000;

async function built(
  recording: Recording,
  differs: Partial<ComparisonRequest> = {},
): Promise<Built> {
  const paired = await pairUp(recording, BEFORE_AND_AFTER, ABORT);
  const bits = new Uint8Array(Math.ceil(recording.length / 8)).fill(0xff);
  const request: ComparisonRequest = {
    recording,
    sides: BEFORE_AND_AFTER,
    visible: visibleOf(recording.length, bits),
    hidden: new Set(),
    span: undefined,
    alignment: "start",
    ...differs,
  };
  const both = paired && (await build(request, paired, ABORT));
  if (both === undefined) throw new Error("the alignment was not computed");
  return both;
}

const scenesOf = ({ halves }: Built): readonly [Scene, Scene] => [halves[0].scene, halves[1].scene];

/** The lines of both sides, with each message shown as its member: `A|A`, `A|`, `|A`. */
function lines(both: Built): string[] {
  const scenes = scenesOf(both);
  const member = (scene: Scene, line: number): string => {
    const row = rowOfLine(scene, line);
    return row === undefined ? "" : scene.recording.text(scene.recording.member.get(row));
  };
  return Array.from({ length: scenes[0].lines.count }, (_, line) =>
    scenes.map((scene) => member(scene, line)).join("|"),
  );
}

/** One signal per letter, with one millisecond between them. */
const letters = (text: string, start = 0): Sample[] =>
  [...text].map((letter, place) => signal((start + place) * MS, MAIL, letter));

test.each<[Alignment, string, string, number, string]>([
  ["start", "", "", 0, ""],
  ["start", "ABC", "ABC", 0, "A|A B|B C|C"],
  ["start", "ABC", "ABC", 500, "A|A B|B C|C"],
  ["start", "ABC", "AC", 0, "A|A B| C|C"],
  ["start", "AC", "ABC", 0, "A|A |B C|C"],
  ["start", "XABC", "ABCX", 0, "X| A|A B|B C|C |X"],
  ["start", "AB", "CD", 0, "A| |C B| |D"],
  ["start", "AA", "A", 0, "A|A A|"],
  ["clock", "AB", "AB", 0, "A|A B|B"],
  ["clock", "AB", "AB", 10, "A|A B|B"],
  ["clock", "AB", "AB", 500, "A| B| |A |B"],
  ["clock", "AXB", "AB", 0, "A|A X| B|B"],
])(
  "with alignment %s, %s and %s after %d ms are %s",
  async (alignment, one, other, start, expected) => {
    const both = await built(bothOf(letters(one), letters(other, start)), { alignment });
    expect(lines(both).join(" ")).toBe(expected);
  },
);

test("hidden counterparts do not delay lines and do not count as differences", async () => {
  const recording = bothOf(letters("AB"), letters("BA"));
  const both = await built(recording, { visible: visibleOf(4, Uint8Array.from([0b0111])) });
  expect(lines(both)).toEqual(["A|", "B|B"]);
  expect(both.halves.map(({ tally }) => tally.alone)).toEqual([0, 0]);
});

const EXTENTS = [
  { from: 100, until: 200 },
  { from: 1000, until: 1400 },
] as const;

test.each<
  [Alignment, [number, number] | undefined, number[], number[][], (number[] | undefined)[]]
>([
  [
    "start",
    undefined,
    [100, 1000],
    [
      [100, 500],
      [1000, 1400],
    ],
    [undefined, undefined],
  ],
  [
    "start",
    [110, 120],
    [100, 1000],
    [
      [100, 500],
      [1000, 1400],
    ],
    [
      [110, 120],
      [1010, 1020],
    ],
  ],
  [
    "start",
    [1010, 1020],
    [100, 1000],
    [
      [100, 500],
      [1000, 1400],
    ],
    [
      [110, 120],
      [1010, 1020],
    ],
  ],
  [
    "start",
    [300, 400],
    [100, 1000],
    [
      [100, 500],
      [1000, 1400],
    ],
    [
      [300, 400],
      [300, 400],
    ],
  ],
  [
    "clock",
    [110, 120],
    [0, 0],
    [
      [100, 1400],
      [100, 1400],
    ],
    [
      [110, 120],
      [110, 120],
    ],
  ],
])(
  "time ranges with alignment %s and selection %o",
  (alignment, stretch, origins, wholes, spans) => {
    const [from, until] = stretch ?? [0, 0];
    const span = stretch && { from, until };
    const times = timesOf(EXTENTS, { alignment, span });
    expect(times.map(({ origin }) => origin)).toEqual(origins);
    expect(times.map(({ whole }) => [whole.from, whole.until])).toEqual(wholes);
    expect(times.map((one) => one.span && [one.span.from, one.span.until])).toEqual(spans);
  },
);

test.each<[string, Sample[], Sample[], number, string | undefined]>([
  ["equal to its counterpart", answered(1), answered(1), 0, undefined],
  ["slower", answered(4.2), answered(1), 0, "+3.20 ms"],
  ["faster", answered(1), answered(4.2), 0, undefined],
  ["slower by a small ratio", answered(11), answered(10), 0, undefined],
  ["slower by a small difference", answered(0.2), answered(0.1), 0, undefined],
  ["without a counterpart", answered(1), [], 0, "only here"],
  ["the reply of a call without a counterpart", answered(1), [], 1, "only here"],
  ["the reply of a slower call", answered(4.2), answered(1), 1, undefined],
  ["not answered on the other side", answered(1), answered(1).slice(0, 1), 1, "only here"],
  ["failed", failed(1), answered(1), 0, "fails here"],
  ["failed on both sides", failed(1), failed(1), 0, undefined],
])("the note on a message: %s", async (_, before, after, row, expected) => {
  const recording = bothOf(before, after);
  const paired = await pairUp(recording, BEFORE_AND_AFTER, ABORT);
  const counterparts = paired?.counterparts ?? new Uint32Array();
  expect(noteOf(differenceOf(recording, counterparts, row))?.text).toBe(expected);
});

/** A call that is answered after this number of milliseconds. */
function answered(after: number): Sample[] {
  return [call(0, 0, MAIL, "Get"), replyTo(after * MS, MAIL, 0)];
}

function failed(after: number): Sample[] {
  return answered(after).map((sample, place) => (place === 1 ? { ...sample, kind: 3 } : sample));
}

test("columns are the same on both sides, and missing services have columns without peers", async () => {
  const both = await built(
    bothOf(
      [signal(0, 2, "A"), signal(1, MAIL, "A")],
      [signal(0, MAIL, "A"), call(1, 0, MAIL, "Get")],
    ),
  );
  const columns = scenesOf(both).map(({ columns }) =>
    columns.all.map(({ label, peers }) => `${label} ${peers.length}`),
  );
  expect(columns).toEqual([
    ["org.example.Other 1", "org.example.Mail 1", "client 0"],
    ["org.example.Other 0", "org.example.Mail 1", "client 1"],
  ]);
  expect(scenesOf(both)[1].columns.ofPeer[0]).toBe(NONE);
});

test("steps follow the lines of both sides and find differences", async () => {
  // A|A B| |C D|D, by rows 0|3 1| |4 2|5
  const both = await built(bothOf(letters("ABD"), letters("ACD")));
  const scenes = scenesOf(both);
  const way = (start: At, step: (at: At) => At | undefined): (string | undefined)[] => {
    const found = [];
    for (let at: At | undefined = start; at !== undefined; at = step(at)) {
      found.push(`${at.side} ${at.row}`);
    }
    return found;
  };
  const down = ["0 0", "0 1", "1 4", "1 5"];
  expect(way({ side: 0, row: 0 }, (at) => stepLine(scenes, at, 1))).toEqual(down);
  expect(way({ side: 1, row: 5 }, (at) => stepLine(scenes, at, -1))).toEqual([
    "1 5",
    "1 4",
    "0 1",
    "0 0",
  ]);
  const different = (by: 1 | -1) => (at: At) => {
    const line = lineOfRow(scenes[at.side], at.row) ?? NONE;
    return stepDifferent(scenes, both.different, line, by);
  };
  expect(way({ side: 0, row: 0 }, different(1))).toEqual(["0 0", "0 1", "1 4"]);
  expect(way({ side: 1, row: 5 }, different(-1))).toEqual(["1 5", "1 4", "0 1"]);
  expect(stepDifferent(scenes, both.different, -1, 1)).toEqual({ side: 0, row: 1 });
});
