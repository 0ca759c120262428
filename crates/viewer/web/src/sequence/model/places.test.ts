import { expect, test } from "vitest";
import { clampScale, tickStep } from "./axis";
import { columnAt, columnsSeen, geometryOf, textAt, xOf } from "./geometry";
import { type DiagramHit, hitAt } from "./hit";
import { ALONE, allRows, peer, recordingOf, signal } from "./sample";
import { sceneOf } from "./scene";
import { ELEMENT_MAX, elementHeight, offsetAfter, offsetMax, scrollTopOf } from "./scroll";
import { drawable, fitting } from "./text";

const LOW = { content: 5_000, view: 1_000 };
const HIGH = { content: 34_000_000, view: 1_000 };

test.each([
  ["what is low moves as the bar does", LOW, 100, 100, 700, 700],
  ["a wheel moves by as much", HIGH, 9_000_000, 1_000_000, 1_000_120, 9_000_120],
  [
    "the bar moves in proportion",
    HIGH,
    0,
    0,
    (ELEMENT_MAX - 1_000) / 2,
    (HIGH.content - 1_000) / 2,
  ],
  ["the end of the bar is the end", HIGH, 0, 0, ELEMENT_MAX - 1_000, HIGH.content - 1_000],
  ["nothing is above the beginning", HIGH, 50, 300, 100, 0],
])("%s", (_, extent, offset, from, to, expected) => {
  expect(offsetAfter(extent, offset, from, to)).toBeCloseTo(expected, 3);
});

test("the scroll bar matches the position of the drawing", () => {
  expect(elementHeight(HIGH)).toBe(ELEMENT_MAX);
  expect(scrollTopOf(HIGH, offsetMax(HIGH))).toBe(ELEMENT_MAX - HIGH.view);
  expect(scrollTopOf(LOW, 700)).toBe(700);
  expect(scrollTopOf({ content: 500, view: 1_000 }, 0)).toBe(0);
});

test.each([
  [3, "straight"],
  [40, "turned"],
] as const)("names of %d columns are %s, and each is found where it is", (columns, style) => {
  const geometry = geometryOf({ width: 1_200, height: 800, columns, scrollX: 0 });
  expect(geometry.headStyle).toBe(style);
  for (let column = 0; column < columns; column++) {
    expect(columnAt(geometry, xOf(geometry, column))).toBe(column);
  }
  expect(columnAt(geometry, 10)).toBeUndefined();
  expect(columnsSeen(geometry).end).toBeLessThanOrEqual(columns);
});

test.each<[number, number | undefined, number]>([
  [1_200, undefined, 384],
  [1_200, 300, 300],
  [1_200, 5, 60],
  [1_200, 5_000, 808],
  [300, 5_000, 137],
])("of %d pixels with %s for names these get %d", (width, text, expected) => {
  const geometry = geometryOf({ width, height: 800, columns: 9, scrollX: 0, text });
  expect(textAt(width, geometry.left)).toBe(expected);
  expect(columnAt(geometry, xOf(geometry, 8))).toBe(8);
});

const burst = recordingOf(
  [...Array(6).keys()].map((at) => signal(at * 100, 1, "Changed")),
  [peer(0), peer(1)],
);
const SCENE = sceneOf(
  burst,
  allRows(burst),
  { folds: "runs", unfolded: new Set([0]) },
  { ...ALONE, order: "compact" },
);
const GEOMETRY = geometryOf({ width: 1_000, height: 800, columns: 1, scrollX: 0 });
const X = xOf(GEOMETRY, 0);

test.each<[number, number, DiagramHit]>([
  [X, 5, { is: "column", column: 0 }],
  [5, 5, { is: "nothing" }],
  [X, GEOMETRY.head + 40, { is: "message", row: 1 }],
  [GEOMETRY.left - 10, GEOMETRY.head + 5, { is: "run", row: 0 }],
  [GEOMETRY.left - 10, GEOMETRY.head + 40, { is: "message", row: 1 }],
  [X, GEOMETRY.head + 6 * 34 + 1, { is: "nothing" }],
])("at %d, %d is %o", (x, y, expected) => {
  expect(hitAt(SCENE, GEOMETRY, { is: "order" }, 0, x, y)).toEqual(expected);
});

test.each([
  [0, 0],
  [196, 2],
  [260, undefined],
])("where time goes down, %d pixels below its beginning is row %s", (y, row) => {
  const axis = { is: "time", from: 0, until: 500, scale: 1 } as const;
  const hit = hitAt(SCENE, GEOMETRY, axis, 0, X, GEOMETRY.head + 24 + y);
  expect(hit.is === "message" ? hit.row : undefined).toBe(row);
});

test("scales are limited", () => {
  expect(clampScale(0, 1e9, 1_048)).toBe(1_000 / 1e9);
  expect(clampScale(50, 1e9, 1_048)).toBe(1);
  expect(clampScale(0, 10, 1_048)).toBe(1);
});

test.each([
  [1e-6, 64, 100e6],
  [1, 64, 100],
  [0.02, 64, 5_000],
])("at %d pixels a nanosecond marks %d pixels apart are %d apart", (scale, pixels, step) => {
  expect(tickStep(scale, pixels)).toBeCloseTo(step);
});

const letters = (text: string): number => text.length;

test.each([
  ["org.example.Mail", 20, "org.example.Mail"],
  ["org.example.Mail", 12, "…Mail"],
  ["org.example.Mail", 5, "…Mail"],
  ["/org/example/mail", 14, "…/example/mail"],
  ["GetManagedObjects", 8, "…Objects"],
  ["Get", 1, "…"],
  ["Get", 0, ""],
])("%s cut to %d letters is %s", (text, width, expected) => {
  expect(fitting(letters, text, width)).toBe(expected);
});

test.each([
  ["Get\nAll", "Get\\nAll"],
  ["\u202eGet", "\\u202EGet"],
  ["<b>", "<b>"],
  ["x".repeat(10_000), `…${"x".repeat(240)}`],
])("a hostile text is drawn in one line", (text, expected) => {
  expect(drawable(text)).toBe(expected);
});
