// Messages saved by the page, compared with an export by the program.

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { expect, inject, test } from "vitest";
import { counts, usePages } from "./support/browser";
import { run, view } from "./support/program";

const pages = usePages();

/** Selects a line of the menu, and returns the path of the downloaded file. */
async function saved(page: Page, line: string | RegExp): Promise<string> {
  await page.getByRole("button", { name: "Save", exact: true }).click();
  const download = page.waitForEvent("download");
  await page.getByRole("menuitem", { name: line }).click();
  const file = join(
    inject("folder"),
    `saved-${Math.random()}-${(await download).suggestedFilename()}`,
  );
  await (await download).saveAs(file);
  return file;
}

/** The file that the program exports for the same messages. */
async function exported(format: string, ...query: string[]): Promise<string> {
  const file = join(inject("folder"), `exported-${Math.random()}.${format}`);
  await run("export", inject("recording"), ...query, "--format", format, "--output", file);
  return file;
}

async function expectSame(one: string, other: string): Promise<void> {
  expect((await readFile(one)).equals(await readFile(other)), `${one} ${other}`).toBe(true);
}

/** The messages of a file in a table with all columns. */
function table(file: string): Promise<string> {
  return run("export", file, "--format", "csv");
}

async function search(page: Page, query: string): Promise<void> {
  const before = await page.locator(".counts").textContent();
  await page.getByRole("combobox", { name: "Query" }).fill(query);
  await expect.poll(() => page.locator(".counts").textContent()).not.toBe(before);
}

test("all messages or the matches of a query are saved as the program exports them", async () => {
  await using server = await view(inject("recording"));
  const page = await pages.open(server.line);
  await expectSame(await saved(page, "Save all messages as pcapng"), await exported("pcapng"));
  await expectSame(await saved(page, /Save all messages as pcap(?!ng)/), await exported("pcap"));
  const query = "member:PropertiesChanged";
  await search(page, query);
  const shown = (await counts(page)).shown;
  const file = await saved(page, "Save the messages shown as pcapng");
  await expectSame(file, await exported("pcapng", query));
  const stats = JSON.parse(await run("stats", file, "--json"));
  expect(stats.summary.messages).toBe(shown);
});

test("a selected call is saved with its reply", async () => {
  await using server = await view(inject("recording"));
  const calls = await run(
    "export",
    inject("recording"),
    "type:call member:Search",
    "--format",
    "csv",
  );
  const number = calls.split("\n")[1]?.split(",")[0] ?? "";
  const page = await pages.open(`${server.line}#message=${number}`);
  const call = await saved(page, "Save the selected call as pcapng");
  const lines = (await table(call)).trim().split("\n");
  expect(lines.length).toBe(3);
  expect(lines[1]).toContain(",Search,");
  expect(lines[2]).toContain("method_return");
});

test("the messages of a time range are saved", async () => {
  await using server = await view(inject("recording"));
  const span = "time:1s..2s";
  const stats = JSON.parse(await run("stats", inject("recording"), span, "--json"));
  const page = await pages.open(`${server.line}#span=1000000000-2000000001`);
  const part = await saved(page, "Save the messages shown as pcapng");
  const { summary } = JSON.parse(await run("stats", part, "--json"));
  // The file also contains the calls and replies that belong to these messages.
  expect(summary.messages).toBeGreaterThanOrEqual(stats.summary.messages);
  expect(summary.messages).toBeLessThan(stats.summary.messages + 10);
});

test("saved pages can save messages", async () => {
  const saver = join(inject("folder"), "saver.html");
  await run("view", inject("recording"), "--export", saver);
  const page = await pages.open(`file://${saver}`);
  const all = await saved(page, "Save all messages as pcapng");
  expect(await table(all)).toBe(await table(inject("recording")));
  const query = "type:error or member:Search";
  await search(page, query);
  const some = await saved(page, "Save the messages shown as pcapng");
  expect(await table(some)).toBe(await table(await exported("pcapng", query)));
});
