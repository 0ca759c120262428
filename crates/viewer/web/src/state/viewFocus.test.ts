import { expect, test } from "vitest";
import { peer, recordingOf, signal } from "../sequence/model/sample";
import { movedTo, type ViewFocus } from "./viewFocus";

const NOTHING: ViewFocus = { selected: undefined, hidden: new Set(), span: undefined };

/** A recording of five messages, and the same recording without the first two. */
function both() {
  const times = [0, 100, 200, 300, 400];
  const messages = times.map((at) => signal(at, 0, "Changed"));
  const last = recordingOf(messages, [peer(0), peer(1), peer(2)]);
  // The connections are in another order.
  const next = recordingOf(
    messages.slice(2).map((message) => ({ ...message, at: message.at - 200 })),
    [peer(0, { unique: ":1.2" }), peer(1, { unique: ":1.0" })],
  );
  next.before = 2;
  next.start = 200n;
  return { last, next };
}

test.each<[string, Partial<ViewFocus>, Partial<ViewFocus>]>([
  ["nothing", {}, {}],
  ["a message that is still there", { selected: 3 }, { selected: 1 }],
  ["a message that is gone", { selected: 1 }, {}],
  ["connections by their names", { hidden: new Set([0, 2]) }, { hidden: new Set([0, 1]) }],
  ["a connection that is gone", { hidden: new Set([1]) }, {}],
  ["a stretch of time", { span: { from: 250, until: 350 } }, { span: { from: 50, until: 150 } }],
  ["a part of one", { span: { from: 50, until: 350 } }, { span: { from: 0, until: 150 } }],
  ["a stretch that is gone", { span: { from: 50, until: 200 } }, {}],
])("%s", (_, looked, expected) => {
  const { last, next } = both();
  expect(movedTo(next, last, { ...NOTHING, ...looked })).toEqual({ ...NOTHING, ...expected });
});
