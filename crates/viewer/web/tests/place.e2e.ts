// The address contains the state of the page, and all views are reachable by keyboard.

import type { Page } from "playwright-core";
import { expect, inject, test } from "vitest";
import { counts, usePages, waitForShown } from "./support/browser";
import { run, view } from "./support/program";

const pages = usePages();

test("a link restores the view", async () => {
  await using program = await view(inject("recording"));
  const one = await pages.open(program.line);
  await one.getByRole("combobox", { name: "Query" }).fill("member:Search");
  await one.getByRole("combobox", { name: "Query" }).press("Enter");
  await expect.poll(() => one.url()).toContain("q=");
  const ticks = one.getByLabel("Services");
  await ticks.getByRole("checkbox", { name: "com.example.Chat.Ben", exact: true }).uncheck();
  await expect.poll(() => one.url()).toContain("hide=");
  await one.keyboard.press("Escape");
  await one.locator("body").click({ position: { x: 5, y: 5 } });
  await one.keyboard.press("j");
  await expect.poll(() => one.url()).toContain("message=");
  await addressIsWritten(one);
  const { shown } = await counts(one);
  const other = await pages.open(one.url());
  await waitForShown(other, shown);
  expect(await other.getByRole("combobox", { name: "Query" }).inputValue()).toBe("member:Search");
  const number = new URL(one.url()).hash.match(/message=(\d+)/)?.[1];
  await other.getByLabel("Details").getByText(`message ${number}`).first().waitFor();
});

/** Waits until the page updates its address, which happens with a delay. */
function addressIsWritten(page: Page): Promise<void> {
  return page.waitForTimeout(300);
}

/** Opens a view, changes its state, and opens the link to that state in a new page. */
async function reopened(
  url: string,
  act: (page: Page) => Promise<void>,
): Promise<{ one: Page; other: Page }> {
  const one = await pages.open(url);
  const before = one.url();
  await act(one);
  await expect.poll(() => one.url()).not.toBe(before);
  await addressIsWritten(one);
  return { one, other: await pages.open(one.url()) };
}

test("a link restores the table of the statistics and its order", async () => {
  await using program = await view(inject("recording"));
  const firstRow = (page: Page) => page.getByRole("grid").getByRole("row").nth(1).textContent();
  const { one, other } = await reopened(`${program.line}#view=statistics`, async (page) => {
    await page.getByRole("tab", { name: "Group by" }).click();
    await page.getByRole("main").getByRole("combobox").selectOption("path");
    await page.getByRole("columnheader", { name: "path" }).getByRole("button").click();
  });
  expect(new URL(one.url()).hash).toBe("#view=statistics&tab=by&by=path&sort=path");
  const sorted = other.getByRole("columnheader", { name: "path" });
  await expect.poll(() => sorted.getAttribute("aria-sort")).toBe("ascending");
  expect(await other.getByRole("tab", { selected: true }).textContent()).toBe("Group by");
  expect(await firstRow(other)).toBe(await firstRow(one));
  await other.getByRole("tab", { name: "Sizes" }).click();
  await expect.poll(() => new URL(other.url()).hash).toBe("#view=statistics&tab=sizes&by=path");
  // The user can also edit the address.
  const typed = "#view=statistics&q=type%3Acall&tab=durations&sort=-max_ns";
  await other.evaluate((hash) => {
    location.hash = hash;
  }, typed);
  await other.getByRole("tab", { name: "Durations", selected: true }).waitFor();
  await other.locator('[role="columnheader"][aria-sort="descending"]').waitFor();
  expect(new URL(other.url()).hash).toBe(typed);
});

test("a link restores the pins and marks of the timeline", async () => {
  await using program = await view(inject("recording"));
  const pin = (page: Page) => page.getByRole("button", { name: "Pin demo-archive" });
  const { one, other } = await reopened(`${program.line}#view=timeline`, async (page) => {
    await pin(page).click();
    await page.keyboard.press("m");
    await expect.poll(() => page.url()).toContain("mark=");
  });
  expect(new URL(one.url()).hash).toMatch(/&pin=process\+\d+\+demo-archive&mark=0-\d+$/);
  await expect.poll(() => pin(other).getAttribute("aria-pressed")).toBe("true");
  expect(other.url()).toBe(one.url());
  // The arrangement stays while another view is shown.
  await other.keyboard.press("1");
  await other.keyboard.press("3");
  await expect.poll(() => pin(other).getAttribute("aria-pressed")).toBe("true");
  await other.keyboard.press("m");
  await expect.poll(() => other.url()).not.toContain("mark=");
});

test("a link restores the selected finding", async () => {
  await using program = await view(inject("recording"));
  const shown = (page: Page) => page.getByRole("article").textContent();
  const { one, other } = await reopened(`${program.line}#view=findings`, async (page) => {
    await page.getByLabel("Group by").selectOption("rule");
    await page.locator(".finding-item").last().click();
  });
  expect(new URL(one.url()).hash).toMatch(/&finding=L\d+&finding=.+&finding=.*&group=rule$/);
  await other.getByRole("article").waitFor();
  expect(await shown(other)).toBe(await shown(one));
  expect(await other.locator('.finding-item[aria-current="true"]').textContent()).toBe(
    await one.locator(".finding-item").last().textContent(),
  );
});

test("keys select views, open the overview of shortcuts, and focus the query", async () => {
  await using program = await view(inject("recording"));
  const page = await pages.open(program.line);
  const current = page.locator('.tabs [aria-current="page"]');
  for (const [key, title] of [
    ["2", "Statistics"],
    ["3", "Timeline"],
    ["4", "Findings"],
    ["1", "Sequence"],
  ] as const) {
    await page.keyboard.press(key);
    await expect.poll(() => current.textContent()).toBe(title);
  }
  await page.keyboard.press("?");
  await page.getByRole("dialog").waitFor();
  await page.keyboard.press("Escape");
  await expect.poll(() => page.getByRole("dialog").count()).toBe(0);
  await page.keyboard.press("/");
  const focused = page.locator("input:focus");
  expect(await focused.getAttribute("aria-label")).toBe("Query");
});

test("details show the arguments, and the reply of a call", async () => {
  const found = await run(
    "export",
    inject("recording"),
    "member:Search type:call",
    "--format",
    "json",
  );
  const call = JSON.parse(found.split("\n")[0] ?? "") as { number: number; serial: number };
  await using program = await view(inject("recording"));
  const page = await pages.open(`${program.line}#message=${call.number}`);
  const details = page.getByLabel("Details");
  await details.getByText("com.example.Archive1", { exact: false }).first().waitFor();
  await details.getByText("busctl", { exact: true }).first().waitFor();
  await page.keyboard.press("p");
  await expect.poll(() => page.url()).not.toContain(`message=${call.number}`);
});

test("Back restores the previous view", async () => {
  await using program = await view(inject("recording"));
  const page = await pages.open(`${program.line}#view=findings`);
  const current = page.locator('.tabs [aria-current="page"]');
  const polling = page.locator(".finding-item", { hasText: "polling" }).first();
  await polling.click();
  const before = page.url();
  await page.getByRole("button", { name: "Show these in the sequence" }).click();
  await expect.poll(() => current.textContent()).toBe("Sequence");
  await expect.poll(() => page.url()).toContain("q=");
  // The address follows selected messages with a delay. Often it still waits when Back changes it.
  for (let round = 0; round < 20; round++) {
    await page.keyboard.press("j");
    await page.goBack();
    await expect.poll(() => current.textContent()).toBe("Findings");
    await page.goForward();
    await expect.poll(() => current.textContent()).toBe("Sequence");
  }
  await page.goBack();
  await expect.poll(() => current.textContent()).toBe("Findings");
  expect(page.url()).toBe(before);
  expect(await polling.getAttribute("aria-current")).toBe("true");
  await page.goForward();
  await expect.poll(() => current.textContent()).toBe("Sequence");
  await expect.poll(() => page.url()).toContain("q=");
});

test("a drag rarely changes the address, and a copied link is current", async () => {
  await using program = await view(inject("recording"));
  const page = await pages.open(program.line);
  await page.evaluate(() => {
    const replace = history.replaceState.bind(history);
    history.replaceState = (...change) => {
      document.documentElement.dataset.changes = `${changes() + 1}`;
      replace(...change);
    };
    const changes = (): number => Number(document.documentElement.dataset.changes ?? 0);
  });
  const box = await page.getByLabel("Traffic", { exact: true }).boundingBox();
  if (box === null) throw new Error("the traffic is not shown");
  const [x, y] = [box.x + box.width * 0.3, box.y + box.height * 0.5];
  await page.mouse.move(x, y);
  await page.mouse.down();
  const begun = performance.now();
  for (let step = 1; step <= 100; step++) await page.mouse.move(x + step * 3, y);
  await page.mouse.up();
  const changes = await page.evaluate(() => Number(document.documentElement.dataset.changes ?? 0));
  expect(changes).toBeLessThanOrEqual(2 + (performance.now() - begun) / 200);
  await page.getByRole("button", { name: "Link" }).click();
  const now = page.url();
  expect(now).toContain("span=");
  await addressIsWritten(page);
  expect(page.url()).toBe(now);
});
