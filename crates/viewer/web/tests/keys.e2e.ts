// Keyboard shortcuts, and the command palette with all actions of the page.

import type { Page } from "playwright-core";
import { expect, inject, test } from "vitest";
import { counts, usePages, waitForShown } from "./support/browser";
import { view } from "./support/program";

const pages = usePages();

/** The number of repetitions of actions that could fail by chance. */
const ROUNDS = 10;

/** The actions that the palette offers for a text. */
async function offered(page: Page, words: string): Promise<string[]> {
  await page.keyboard.press(":");
  await page.getByRole("combobox", { name: "Command" }).fill(words);
  const offers = await page.getByRole("option").allTextContents();
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  return offers;
}

/** Runs the first action that the palette offers for a text. */
async function command(page: Page, words: string): Promise<void> {
  await page.keyboard.press(":");
  await page.getByRole("combobox", { name: "Command" }).fill(words);
  await page.keyboard.press("Enter");
}

test.each([
  ["", "export", /Save the messages shown as pcapng/],
  ["", "download", /standalone HTML/],
  ["", "redact", /Save without message contents/],
  ["", "link", /Copy a link/],
  ["", "zoom", /Go to Timeline/],
  ["#view=timeline", "zoom", /Zoom in/],
  ["", "legend", /Sequence/],
  ["", "dark", /Theme: dark/],
  ["", "filter", /Edit the filter/],
  ["#q=type%3Acall", "clear", /Clear the filter/],
  ["#span=0-1000000000", "clear", /Clear the time range/],
  ["#view=statistics", "histogram", /Go to Statistics/],
  ["#view=objects", "keyboard", /Show keyboard shortcuts/],
])("on a page %s the palette finds %s as %s", async (hash, words, expected) => {
  await using program = await view(inject("recording"));
  const page = await pages.open(`${program.line}${hash}`);
  expect((await offered(page, words)).join("\n")).toMatch(expected);
});

test("the palette runs actions", async () => {
  await using program = await view(inject("recording"));
  const page = await pages.open(`${program.line}#q=type%3Acall&span=0-1000000000`);
  const { all } = await counts(page);
  await command(page, "show all messages");
  await expect.poll(() => new URL(page.url()).hash).toBe("");
  await expect.poll(async () => (await counts(page)).shown).toBeGreaterThan(all / 2);
  await command(page, "theme dark");
  await expect.poll(() => page.locator("html").getAttribute("data-theme")).toBe("dark");
  const saving = page.waitForEvent("download");
  await command(page, "export pcapng");
  expect((await saving).suggestedFilename()).toMatch(/\.pcapng$/);
  await command(page, "12");
  await expect.poll(() => page.url()).toContain("message=12");
});

test("keys right after a dialog opens or closes are not lost", async () => {
  await using program = await view(inject("recording"));
  const page = await pages.open(program.line);
  const query = page.getByRole("combobox", { name: "Query" });
  for (let round = 0; round < ROUNDS; round++) {
    await page.keyboard.press("?");
    await page.keyboard.press("Escape");
    await page.keyboard.press("/");
    await page.keyboard.type("type:call");
    await page.keyboard.press("Tab");
    await expect.poll(() => query.inputValue()).toBe("type:call");
    await page.locator("body").click({ position: { x: 5, y: 5 } });
    await page.keyboard.press(":");
    await page.keyboard.press("Escape");
    await page.keyboard.press(":");
    await page.keyboard.type("show all messages");
    await page.keyboard.press("Enter");
    await expect.poll(() => query.inputValue()).toBe("");
  }
});

test("the palette runs an action once that a key repeats while held", async () => {
  await using program = await view(inject("recording"));
  const page = await pages.open(`${program.line}#view=timeline`);
  const length = page.locator(".timeline-length");
  await expect.poll(() => length.textContent()).toMatch(/ s$/);
  const before = Number.parseFloat((await length.textContent()) ?? "");
  await command(page, "zoom in");
  await expect
    .poll(async () => Number.parseFloat((await length.textContent()) ?? ""))
    .toBeLessThan(before);
  const after = await length.textContent();
  // Time for repetitions that must not happen.
  await page.waitForTimeout(500);
  expect(await length.textContent()).toBe(after);
});

test.each([
  ["statistics", "Statistics", ["Next tab", "Go to the table, next row"]],
  ["findings", "Findings", ["Next finding", "Previous finding"]],
  ["compare", "Compare", ["Switch between differences and side by side"]],
])("the overview of shortcuts lists the keys of %s", async (name, part, keys) => {
  const recording = inject("recording");
  await using program = await view(recording, recording);
  const page = await pages.open(`${program.line}#view=${name}`);
  await page.getByRole("main").locator("button").first().waitFor();
  await page.keyboard.press("?");
  const section = page.getByRole("dialog").locator("section", {
    has: page.getByRole("heading", { name: part, exact: true }),
  });
  for (const about of keys) await section.getByText(about, { exact: true }).waitFor();
});

test("keys reach rows and change tabs", async () => {
  await using program = await view(inject("recording"));
  const page = await pages.open(`${program.line}#view=statistics`);
  const { shown } = await counts(page);
  const rows = page.getByRole("grid").getByRole("row");
  await rows.nth(2).waitFor();
  await page.keyboard.press("j");
  await page.keyboard.press("j");
  await expect.poll(() => rows.nth(2).getAttribute("aria-selected")).toBe("true");
  await page.keyboard.press("k");
  await expect.poll(() => rows.nth(1).getAttribute("aria-selected")).toBe("true");
  const messages = await rows.nth(1).locator('[data-column="2"]').textContent();
  await page.keyboard.press("Enter");
  await waitForShown(page, Number(messages?.replaceAll(",", "")));
  expect((await counts(page)).shown).toBeLessThan(shown);
  await page.keyboard.press("Shift+ArrowRight");
  await page.getByRole("tab", { name: "Durations", selected: true }).waitFor();
});

test("keys reach findings", async () => {
  await using program = await view(inject("recording"));
  const page = await pages.open(`${program.line}#view=findings`);
  const items = page.locator(".finding-item");
  await items.nth(2).waitFor();
  for (const [key, place] of [
    ["j", 1],
    ["ArrowDown", 2],
    ["k", 1],
  ] as const) {
    await page.keyboard.press(key);
    await expect.poll(() => items.nth(place).getAttribute("aria-current")).toBe("true");
  }
});
