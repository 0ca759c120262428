// All views of the page, compared with the figures of the command line.

import { expect, inject, test } from "vitest";
import { counts, usePages, waitForShown } from "./support/browser";
import { run, view } from "./support/program";

const pages = usePages();

/** The output of `stats --json` for the recording. */
async function stats(...words: string[]): Promise<{ summary: Record<string, number> }> {
  return JSON.parse(await run("stats", inject("recording"), ...words, "--json"));
}

/** The digits of a text as a number. */
function number(text: string | null): number {
  return Number((text ?? "").replaceAll(",", "").match(/\d+/)?.[0]);
}

test("the summary equals the output of stats", async () => {
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

test("frequencies equal the output of stats by member", async () => {
  await using program = await view(inject("recording"));
  const page = await pages.open(`${program.line}#view=statistics`);
  const members = JSON.parse(await run("stats", inject("recording"), "--by", "member", "--json"));
  const grid = page.getByRole("grid");
  await expect.poll(() => grid.getAttribute("aria-rowcount")).toBe(String(members.length + 1));
  const first = await grid.getByRole("row").nth(1).textContent();
  expect(first).toContain(members[0].messages.toLocaleString("en"));
});

test("findings equal the output of lint", async () => {
  await using program = await view(inject("recording"));
  const page = await pages.open(`${program.line}#view=findings`);
  const report = JSON.parse(await run("lint", inject("recording"), "--json").catch(printed));
  const found = page.getByText(/^\d+ findings/);
  await expect.poll(async () => number(await found.textContent())).toBe(report.findings.length);
  expect(report.findings.length).toBeGreaterThan(2);
  // The order is also the same as in the report.
  const items = page.locator(".finding-item .finding-says");
  expect(await items.allTextContents()).toEqual(
    report.findings.map(({ who, says }: { who: { label: string }; says: string }) =>
      `${who.label} ${says}`.replace(/\s+/g, " "),
    ),
  );
});

/** The output of a command whose exit status reports its findings. */
function printed(error: { stdout: string }): string {
  return error.stdout;
}

test("a finding shows its messages, with the replies of calls", async () => {
  await using program = await view(inject("recording"));
  const page = await pages.open(`${program.line}#view=findings`);
  const report = JSON.parse(await run("lint", inject("recording"), "--json").catch(printed));
  const polling = report.findings.find(({ rule }: { rule: string }) => rule === "L12");
  await page.locator(".finding-item", { hasText: "polling" }).first().click();
  const lines = page.locator(".evidence");
  expect(await lines.locator(".evidence-number").allTextContents()).toEqual(
    polling.evidence.first.map((one: number) => one.toLocaleString("en")),
  );
  expect(await lines.first().textContent()).toMatch(/demo-poller.* → .*GetAll\d.* (µs|ms)$/);
  expect(await page.getByRole("region", { name: "Problems" }).count()).toBe(0);
  // Enter has the same effect as the button.
  await page.locator("main").focus();
  await page.keyboard.press("Enter");
  const calls = (await stats(polling.query)).summary.calls;
  const query = polling.query.replace("from:", "name:").replace(" to:", " name:");
  const { summary } = await stats(query);
  await waitForShown(page, summary.messages ?? 0);
  expect(summary.calls).toBe(calls);
  // The recording can end before the last reply.
  expect([calls, Number(calls) - 1]).toContain(summary.returns);
});

test("a click selects a row of the statistics, and Enter or a double-click filters by it", async () => {
  await using program = await view(inject("recording"));
  const page = await pages.open(`${program.line}#view=statistics&tab=durations`);
  const all = (await counts(page)).shown;
  const row = page.getByRole("grid").getByRole("row").filter({ hasText: "Search" }).first();
  await row.click();
  expect(await row.getAttribute("aria-selected")).toBe("true");
  const bar = page.getByRole("toolbar", { name: "Selected row" });
  await bar.getByRole("button", { name: "Filter by this" }).waitFor();
  expect((await counts(page)).shown).toBe(all);
  await page.keyboard.press("Enter");
  const query = "interface:com.example.Archive1 member:Search name:com.example.Archive";
  const found = (await stats(query)).summary.messages ?? 0;
  await waitForShown(page, found);
  // The table is updated after the count of messages: it then has its head and one row.
  const rows = page.getByRole("grid").getByRole("row");
  await expect.poll(() => rows.count()).toBe(2);
  await page.getByRole("button", { name: "Clear the filter" }).click();
  await waitForShown(page, all);
  // The row returns to its place when the other rows are back.
  await expect.poll(() => rows.count()).toBeGreaterThan(2);
  await row.dblclick();
  await waitForShown(page, found);
});

test("all columns of durations are visible in a window of 1440 pixels", async () => {
  await using program = await view(inject("recording"));
  const size = { width: 1440, height: 900 };
  const hash = "#view=statistics&tab=durations&message=5";
  const page = await pages.open(`${program.line}${hash}`, { size });
  const main = await page.getByRole("main").boundingBox();
  await page.locator(".details-title").getByText("message 5", { exact: true }).waitFor();
  for (const name of [/^p50/, /^p90/, /^p99/, /^max/, /^total/]) {
    const box = await page.getByRole("columnheader", { name }).boundingBox();
    expect((box?.x ?? 0) + (box?.width ?? 0)).toBeLessThanOrEqual(
      (main?.x ?? 0) + (main?.width ?? 0),
    );
  }
});

test("blocked callers equal the output of timeline", async () => {
  await using program = await view(inject("recording"));
  const page = await pages.open(`${program.line}#view=timeline`);
  const timeline = JSON.parse(await run("timeline", inject("recording"), "--json"));
  const grid = page.getByRole("grid").first();
  await grid.getByRole("row").nth(1).waitFor();
  const first = await grid.getByRole("row").nth(1).textContent();
  expect(first).toContain(timeline.blocked[0].caller);
});

test("the diagram shows all messages in order", async () => {
  await using program = await view(inject("recording"));
  const page = await pages.open(program.line);
  const rows = page.getByRole("table", { name: "Visible messages" }).getByRole("row");
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
  await page.getByRole("main").getByText("No significant differences.").first().waitFor();
});

test("an invalid recording is reported, and no page is served", async () => {
  await expect(run("view", "--no-open", "/dev/null")).rejects.toMatchObject({
    stderr: expect.stringContaining("/dev/null"),
  });
});
