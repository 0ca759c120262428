// The selection of messages by query, services and time, and searches within it.

import { expect, inject, test } from "vitest";
import { counts, usePages, waitForShown } from "./support/browser";
import { run, view } from "./support/program";

const pages = usePages();

/** The counts that the program reports for a query. */
async function stats(query: string): Promise<{ messages: number; recorder: number }> {
  const words = [inject("recording"), query].filter((word) => word !== "");
  const report = JSON.parse(await run("stats", ...words, "--json"));
  return { messages: report.summary.messages, recorder: report.recorder_messages };
}

test("a time range applies to the count of messages", async () => {
  await using program = await view(inject("recording"));
  const [from, until] = [100_000_000, 700_000_000];
  const page = await pages.open(`${program.line}#span=${from}-${until}`);
  const { messages } = await stats(`time>=${from}ns time<${until}ns`);
  const all = await stats("");
  expect(messages).toBeLessThan(all.messages);
  await waitForShown(page, messages);
  expect((await counts(page)).all).toBe(all.messages);
});

test("hidden messages of the recorder are counted, and a term shows them", async () => {
  await using program = await view(inject("recording"));
  const page = await pages.open(program.line);
  const { messages, recorder } = await stats("");
  expect(recorder).toBeGreaterThan(0);
  await waitForShown(page, messages);
  const about = await page.locator(".counts").getAttribute("title");
  const number = recorder.toLocaleString("en");
  expect(about).toContain(`${number} messages from or to the recorder are hidden`);
  await page.getByRole("combobox", { name: "Query" }).fill("is:recorder");
  await waitForShown(page, recorder);
});

test("an empty view names the part of the selection that excludes everything", async () => {
  await using program = await view(inject("recording"));
  const page = await pages.open(program.line);
  const all = await stats("");
  await page.getByRole("combobox", { name: "Query" }).fill("member:say");
  const empty = page.getByRole("region", { name: "No selection" });
  await empty.waitFor();
  expect(await empty.textContent()).toContain("case-sensitive");
  await empty.getByRole("button", { name: "Clear the query" }).click();
  await waitForShown(page, all.messages);
  expect(await empty.count()).toBe(0);
});

test("an unfinished term is reported only after Enter", async () => {
  await using program = await view(inject("recording"));
  const page = await pages.open(program.line);
  const query = page.getByRole("combobox", { name: "Query" });
  await query.pressSequentially("dur>5");
  // Time for a report that must not appear.
  await page.waitForTimeout(500);
  expect(await query.getAttribute("aria-invalid")).toBe("false");
  await query.press("Enter");
  await expect.poll(() => query.getAttribute("aria-invalid")).toBe("true");
  expect(await page.locator(".query-problem").textContent()).toContain("use for example 50ms");
});

test("a search steps through hits without hiding messages", async () => {
  await using program = await view(inject("recording"));
  const page = await pages.open(program.line);
  const all = await stats("");
  const calls = await stats("type:error");
  await page.keyboard.press("Control+f");
  await page.getByLabel("Find messages").fill("type:error");
  await page.keyboard.press("Enter");
  const hits = page.locator(".find-hits");
  await expect.poll(() => hits.textContent()).toBe(`1 of ${calls.messages}`);
  await page.keyboard.press("Enter");
  await expect.poll(() => hits.textContent()).toBe(`2 of ${calls.messages}`);
  expect((await counts(page)).shown).toBe(all.messages);
  await page.keyboard.press("Escape");
  expect(await hits.count()).toBe(0);
});

test("the end of the program is not reported as an invalid query", async () => {
  const program = await view(inject("recording"));
  const page = await pages.open(program.line);
  await program[Symbol.asyncDispose]();
  await page.getByRole("combobox", { name: "Query" }).fill("member:Get*");
  const status = page.locator(".progress-disconnected");
  await status.waitFor();
  expect(await status.getAttribute("title")).toContain("Start it again");
});
