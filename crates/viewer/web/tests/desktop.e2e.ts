// The page with recordings of real programs, which have many short-lived connections.

import { beforeAll, expect, test } from "vitest";
import { counts, usePages } from "./support/browser";
import { desktopRecording } from "./support/desktop";
import { run, view } from "./support/program";

const pages = usePages();

const FILES = [
  "session.pcapng",
  "system.pcapng",
  "dbus-daemon.pcap",
  "dbus-daemon.pcapng",
  "dbus-broker.pcapng",
] as const;

const VIEWS = ["", "#view=statistics", "#view=timeline", "#view=findings"];

beforeAll(async () => {
  await desktopRecording();
}, 200_000);

for (const file of FILES) {
  test(`every view shows ${file}`, async () => {
    const recording = await desktopRecording(file);
    const { summary } = JSON.parse(await run("stats", recording, "--json"));
    await using program = await view(recording);
    let address = program.line;
    for (const name of VIEWS) {
      const page = await pages.open(`${address}${name}`);
      expect((await counts(page)).shown, name).toBe(summary.messages);
      // The next page reuses the cookie of this one.
      address = new URL(program.line).origin;
    }
  });
}
