// Every view of the page, with the numbers that the program tells without it.

import { expect, inject, test } from "vitest";
import { counts, usePages } from "./support/browser";
import { run, view } from "./support/program";

const pages = usePages();

/** What `stats --json` tells of the recording. */
async function stats(...words: string[]): Promise<{ summary: Record<string, number> }> {
  return JSON.parse(await run("stats", inject("recording"), ...words, "--json"));
}

/** Digits of a text as a number. */
function number(text: string | null): number {
  return Number((text ?? "").replaceAll(",", "").match(/\d+/)?.[0]);
}

test("the summary is that of stats", async () => {
  await using program = await view(inject("recording"));
  const page = await pages.open(`${program.line}#view=statistics`);
  const { summary } = await stats();
  for (const name of ["messages", "calls", "returns", "errors", "signals"]) {
    const term = page.locator("dt", { hasText: new RegExp(`^${name}$`) });
    await expect
      .poll(async () => number(await term.locator("+ dd").textContent()))
      .toBe(summary[name]);
  }
  expect((await counts(page)).shown).toBe(summary.messages);
});

test("frequencies are those of stats by member", async () => {
  await using program = await view(inject("recording"));
  const page = await pages.open(`${program.line}#view=statistics`);
  const members = JSON.parse(await run("stats", inject("recording"), "--by", "member", "--json"));
  const grid = page.getByRole("grid");
  await expect.poll(() => grid.getAttribute("aria-rowcount")).toBe(String(members.length + 1));
  const first = await grid.getByRole("row").nth(1).textContent();
  expect(first).toContain(members[0].messages.toLocaleString("en"));
});

test("findings are those of lint", async () => {
  await using program = await view(inject("recording"));
  const page = await pages.open(`${program.line}#view=findings`);
  const report = JSON.parse(await run("lint", inject("recording"), "--json").catch(printed));
  const told = page.getByText(/^\d+ findings/);
  await expect.poll(async () => number(await told.textContent())).toBe(report.findings.length);
  expect(report.findings.length).toBeGreaterThan(2);
});

/** What a program has printed that ended with a status that tells of what it has found. */
function printed(error: { stdout: string }): string {
  return error.stdout;
}

test("who was blocked is as timeline tells", async () => {
  await using program = await view(inject("recording"));
  const page = await pages.open(`${program.line}#view=timeline`);
  const timeline = JSON.parse(await run("timeline", inject("recording"), "--json"));
  const grid = page.getByRole("grid").first();
  await grid.getByRole("row").nth(1).waitFor();
  const first = await grid.getByRole("row").nth(1).textContent();
  expect(first).toContain(timeline.blocked[0].caller);
});

test("the diagram has each message in its order", async () => {
  await using program = await view(inject("recording"));
  const page = await pages.open(program.line);
  const rows = page.getByRole("table", { name: "Messages that are seen" }).getByRole("row");
  await rows.nth(3).waitFor();
  const numbers = await rows.locator("td:first-child").allTextContents();
  const ascending = numbers
    .map(Number)
    .every((one, at, all) => at === 0 || one > Number(all[at - 1]));
  expect(numbers.length).toBeGreaterThan(5);
  expect(ascending).toBe(true);
});

test("two recordings are compared", async () => {
  const recording = inject("recording");
  await using program = await view(recording, recording);
  const page = await pages.open(`${program.line}#view=compare`);
  await page
    .getByRole("main")
    .getByText(/no differ|same|nothing/i)
    .first()
    .waitFor();
});

test("a recording that is none is told, and no page is served", async () => {
  await expect(run("view", "--no-open", "/dev/null")).rejects.toMatchObject({
    stderr: expect.stringContaining("/dev/null"),
  });
});
