// The investigations of docs/investigations.md, by keyboard and by mouse.
//
// If DILIGENCE_PICTURES is set, the screenshots of that document are written to this folder.

import { join } from "node:path";
import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { usePages, waitForShown } from "./support/browser";
import { desktopRecording, updatedRecording } from "./support/desktop";
import { view } from "./support/program";

const pages = usePages();
const SIZE = { width: 1440, height: 900 };

beforeAll(async () => {
  await desktopRecording();
  await updatedRecording();
}, 300_000);

/** Takes a screenshot of the page, if screenshots are requested. */
async function picture(page: Page, name: string): Promise<void> {
  const folder = process.env.DILIGENCE_PICTURES;
  if (folder !== undefined) await page.screenshot({ path: join(folder, `${name}.png`) });
}

/** Steps through the findings by keyboard until one contains all of these texts. */
async function findingBy(page: Page, ...words: string[]): Promise<string> {
  await page.keyboard.press("4");
  await page.getByRole("article").waitFor();
  for (let step = 0; step < FINDINGS_MAX; step++) {
    const text = (await page.getByRole("article").textContent()) ?? "";
    if (words.every((word) => text.includes(word))) return text;
    await page.keyboard.press("j");
  }
  throw new Error(`no finding says ${words.join(" and ")}`);
}

const FINDINGS_MAX = 40;

test("a slow start is explained, by keyboard", async () => {
  await using program = await view(await desktopRecording());
  const page = await pages.open(program.line, { size: SIZE });
  const text = await findingBy(page, "services that start slowly", "org.example.Backup");
  // The start takes 3 s by itself, and longer on a busy machine.
  const [, seconds] = /took (\d+(?:\.\d+)?) s to connect, and \d+ calls waited/.exec(text) ?? [];
  expect(Number(seconds), text).toBeGreaterThanOrEqual(3);
  await page.keyboard.press("Enter");
  await expect.poll(() => page.url()).toContain("q=");
});

test("a slow start is explained, by mouse", async () => {
  await using program = await view(await desktopRecording());
  const page = await pages.open(program.line, { size: SIZE });
  await page.getByLabel("Views").getByRole("button", { name: "Timeline" }).click();
  await page.getByRole("tab", { name: "Service starts" }).click();
  await page
    .locator(".starts-list")
    .getByRole("button", { name: /org\.example\.Backup/ })
    .click();
  for (const milestone of ["process started", "connected", "name acquired"]) {
    await page.getByText(milestone).first().waitFor();
  }
  await picture(page, "slow-start");
});

test("the sender and recipients of a flood are found, by keyboard", async () => {
  await using program = await view(await desktopRecording());
  const page = await pages.open(program.line, { size: SIZE });
  const text = await findingBy(page, "signal floods", "org.example.Sensors emits");
  expect(text).toMatch(/[\d,]+ wake-ups/);
  await picture(page, "flood");
});

test("the sender and recipients of a flood are found, by mouse", async () => {
  await using program = await view(await desktopRecording());
  const page = await pages.open(program.line, { size: SIZE });
  await page.getByLabel("Views").getByRole("button", { name: "Findings" }).click();
  await page.locator(".finding-item").filter({ hasText: "org.example.Sensors emits" }).click();
  await page.getByRole("article").getByText("3 connections").first().waitFor();
  await page.getByRole("button", { name: "Show these in the sequence" }).click();
  await waitForShown(page, 400);
  await picture(page, "flood-sequence");
});

test("changes between two recordings are found, by keyboard", async () => {
  await using program = await view(await desktopRecording(), await updatedRecording());
  const page = await pages.open(program.line, { size: SIZE });
  await page.keyboard.press("5");
  const rows = page.getByRole("grid").getByRole("row");
  await expect.poll(() => rows.count()).toBeGreaterThan(1);
  await page.keyboard.press("/");
  await page.keyboard.type("member:Search");
  await page.keyboard.press("Enter");
  await expect.poll(() => rows.count(), { timeout: 10_000 }).toBe(2);
  await expect.poll(() => rows.nth(1).textContent()).toMatch(/Search.*slower/);
});

test("changes between two recordings are found, by mouse", async () => {
  await using program = await view(await desktopRecording(), await updatedRecording());
  const page = await pages.open(program.line, { size: SIZE });
  await page.getByLabel("Views").getByRole("button", { name: "Compare" }).click();
  const row = page.getByRole("grid").getByRole("row").filter({ hasText: "Indexer.Search" });
  await expect.poll(() => row.textContent()).toContain("slower");
  await picture(page, "changes");
  await row.dblclick();
  await expect.poll(() => page.url()).toContain("compare=sequences");
});
