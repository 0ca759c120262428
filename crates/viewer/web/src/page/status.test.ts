import { signal } from "@preact/signals";
import { expect, test } from "vitest";
import type { Progress } from "../state/store";
import { statusOf } from "./status";

type Reasons = readonly string[] | undefined;

test.each<[Progress, Reasons, string]>([
  [{ state: "loading" }, undefined, "loading…"],
  [{ state: "whole" }, undefined, "loaded"],
  [{ state: "whole" }, [], "complete"],
  [{ state: "whole" }, ["10 messages are missing"], "incomplete"],
  [{ state: "live" }, undefined, "live"],
  [
    { state: "ended", why: "the bus closed the connection" },
    undefined,
    "ended: the bus closed the connection",
  ],
  [{ state: "disconnected", why: "Start it again." }, [], "disconnected"],
])("the status of %j with %j", (progress, incomplete, words) => {
  expect(statusOf({ progress: signal(progress), incomplete: signal(incomplete) }).words).toBe(
    words,
  );
});
