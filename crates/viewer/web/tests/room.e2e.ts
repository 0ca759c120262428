// The layout of the page, including on a phone.

import { join } from "node:path";
import type { Page } from "playwright-core";
import { expect, inject, test } from "vitest";
import { counts, settled, usePages } from "./support/browser";
import { traffic, writeCapture } from "./support/capture";
import { view } from "./support/program";

const pages = usePages();

/** The edge between the names of messages and the columns. */
function edge(page: Page) {
  return page.getByRole("separator", { name: "Width of the names of messages" });
}

async function width(page: Page): Promise<number> {
  return Number(await edge(page).getAttribute("aria-valuenow"));
}

test("the names of messages have an adjustable width", async () => {
  await using program = await view(inject("recording"));
  const page = await pages.open(program.line);
  const first = await width(page);
  const box = await edge(page).boundingBox();
  if (box === null) throw new Error("there is no edge");
  const [x, y] = [box.x + box.width / 2, box.y + 300];
  await page.mouse.move(x, y);
  await page.mouse.down();
  await page.mouse.move(x + 100, y, { steps: 4 });
  await page.mouse.up();
  await expect.poll(() => width(page)).toBe(first + 100);
  await edge(page).press("ArrowLeft");
  await expect.poll(() => width(page)).toBe(first + 80);
  await page.reload();
  await settled(page);
  await expect.poll(() => width(page)).toBe(first + 80);
  await edge(page).press("Enter");
  await expect.poll(() => width(page)).toBe(first);
});

test("a browser without storage works", async () => {
  await using program = await view(inject("recording"));
  const page = await pages.open(program.line);
  await page.addInitScript(() => {
    Object.defineProperty(window, "localStorage", {
      get() {
        throw new DOMException("not here", "SecurityError");
      },
    });
  });
  await page.reload();
  await settled(page);
  const first = await width(page);
  await edge(page).press("ArrowRight");
  await expect.poll(() => width(page)).toBe(first + 20);
});

test("on a phone the services are behind a button", async () => {
  await using program = await view(inject("recording"));
  const size = { width: 420, height: 800 };
  const page = await pages.open(program.line, { size });
  const panel = page.getByRole("complementary", { name: "Services" });
  const button = page.getByRole("button", { name: /^Services/ });
  expect(await panel.isVisible()).toBe(false);
  await button.click();
  const { all } = await counts(page);
  await panel.getByRole("checkbox", { name: "com.example.Volumes", exact: true }).uncheck();
  await expect.poll(async () => (await counts(page)).shown).toBeLessThan(all);
  await expect.poll(() => button.textContent()).toBe("Services (1 hidden)");
  await page.keyboard.press("Escape");
  await expect.poll(() => panel.isVisible()).toBe(false);
  expect(await page.locator(":focus").textContent()).toBe("Services (1 hidden)");
  await page.setViewportSize({ width: 1280, height: 800 });
  expect([await panel.isVisible(), await button.isVisible()]).toEqual([true, false]);
});

test("a long recording is checked automatically", async () => {
  const file = join(inject("folder"), "long.pcap");
  writeCapture(file, traffic(301_000));
  await using program = await view(file);
  const page = await pages.open(program.line);
  const problems = page.getByRole("region", { name: "Problems" });
  await expect
    .poll(() => problems.getByRole("listitem").count(), { timeout: 20_000 })
    .toBeGreaterThan(0);
  await expect.poll(() => problems.textContent(), { timeout: 20_000 }).not.toContain("…");
});
