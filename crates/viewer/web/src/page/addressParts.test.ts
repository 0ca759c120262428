import { beforeEach, expect, test } from "vitest";
import { reporterOf } from "../findings/report";
import { sessionOf } from "../objects/address";
import { peer, recordingOf, signal } from "../sequence/model/sample";
import { sequenceState } from "../sequence/state";
import type { Source } from "../source/source";
import { Store } from "../state/store";
import { formatPlace, parsePlace } from "../state/url";
import { statisticsState } from "../statistics/state";
import { arrangedOn } from "../timeline/arrangement";
import { addressParts } from "./addressParts";

const SILENT: Source = {
  async *frames() {},
  ask: () => new Promise(() => {}),
};

const store = new Store(SILENT);
const parts = addressParts(store);
const session = sessionOf(store);
const statistics = statisticsState(store);
const { sortKey, subject, tab } = statistics;

function read(hash: string): void {
  for (const part of parts) part.read(new URLSearchParams(hash.replace(/^#/, "")));
}

function written(): string {
  return formatPlace(parsePlace(""), parts);
}

beforeEach(() => read(""));

test.each<[string, () => unknown, unknown]>([
  ["", () => sequenceState(store).down.value, "order"],
  ["#down=time", () => sequenceState(store).down.value, "time"],
  ["#columns=process", () => sequenceState(store).grouping.value, "process"],
  ["#order=traffic", () => sequenceState(store).order.value, "traffic"],
  ["#times=wall", () => sequenceState(store).timeStyle.value, "wall"],
  ["#reference=12", () => sequenceState(store).reference.value, 12],
  ["#fold=nothing", () => sequenceState(store).folding.value.folds, "nothing"],
  ["#tab=durations", () => tab.value, "durations"],
  ["#tab=by&by=path", () => subject.value, "path"],
  ["#sort=member", () => sortKey.value, { key: "member", descending: false }],
  ["#sort=-total_ns", () => sortKey.value, { key: "total_ns", descending: true }],
  [
    "#pin=process+7+a%2Cb&pin=bus+0",
    () => [...arrangedOn(store).pinned.value],
    ["process 7 a,b", "bus 0"],
  ],
  [
    "#mark=10-20&mark=15-90",
    () => arrangedOn(store).marked.value,
    [
      { from: 10, until: 20 },
      { from: 15, until: 90 },
    ],
  ],
  [
    "#finding=L12&finding=demo-poller&finding=",
    () => reporterOf(store).open.value,
    { rule: "L12", who: { label: "demo-poller" }, subject: "" },
  ],
  ["#rule=L07", () => reporterOf(store).filter.value.rule, "L07"],
  ["#who=demo", () => reporterOf(store).filter.value.who, "demo"],
  ["#without=info&without=low", () => reporterOf(store).filter.value.without.size, 2],
  ["#group=rule", () => reporterOf(store).grouping.value, "rule"],
  ["#service=a.b", () => [session.service.value, session.place.value], ["a.b", undefined]],
  ["#service=a.b&path=%2Fa", () => session.place.value, { service: "a.b", path: "/a" }],
  ["#service=%3A1.5&object=signals", () => session.tab.value, "signals"],
  [
    "#service=a.b&path=%2F&method=a.I.Do",
    () => session.open.value,
    { is: "method", interface: "a.I", name: "Do" },
  ],
  [
    "#service=a.b&path=%2F&property=a.I.Level",
    () => session.open.value,
    { is: "property", interface: "a.I", name: "Level" },
  ],
])("%s sets the state and is written back unchanged", (hash, shown, expected) => {
  read(hash);
  expect(shown()).toEqual(expected);
  const sorted = [...new URLSearchParams(written().slice(1))].sort();
  expect(sorted).toEqual([...new URLSearchParams(hash.slice(1))].sort());
  read("");
  expect(written()).toBe("");
});

test.each([
  "#down=up",
  "#tab=none",
  "#by=color",
  "#sort=-",
  "#mark=9-3&mark=x",
  "#finding=L12&finding=half",
  "#without=worst",
  "#path=%2Fwithout%2Fservice",
  "#method=nodots",
  "#property=.a",
  "#method=a.",
])("the invalid address %s is ignored", (hash) => {
  read(hash);
  expect(written()).toBe("");
});

test("selecting another tab resets the sort order", () => {
  read("#sort=-total_ns");
  statistics.chooseTab("frequencies");
  expect(sortKey.value).toBeDefined();
  statistics.chooseTab("sizes");
  expect(sortKey.value).toBeUndefined();
  read("#tab=by&sort=-total_ns");
  statistics.chooseSubject("unit");
  expect(written()).toBe("#tab=by&by=unit");
});

test("marks keep their times when the oldest messages of a bus are dropped", () => {
  const times = [0, 100, 200];
  const whole = recordingOf(
    times.map((at) => signal(at, 0, "Changed")),
    [peer(0)],
  );
  const rest = recordingOf([signal(0, 0, "Changed")], [peer(0)]);
  rest.start = whole.start + 100n;
  store.recording.value = whole;
  read("#mark=10-20&mark=150-160&mark=90-120");
  store.recording.value = rest;
  expect(written()).toBe("#mark=50-60&mark=0-20");
});
