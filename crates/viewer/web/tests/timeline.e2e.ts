// The timeline of a session with more processes than fit on the screen.

import { join } from "node:path";
import type { Locator, Page } from "playwright-core";
import { beforeAll, expect, inject, test } from "vitest";
import { usePages, waitForShown } from "./support/browser";
import { type Running, view } from "./support/program";
import { recordSession } from "./support/session";

const pages = usePages();
let session = "";

beforeAll(async () => {
  session = join(inject("folder"), "session-timeline.pcapng");
  await recordSession(session);
}, 120_000);

function heads(page: Page): Locator {
  return page.locator(".timeline-head");
}

async function opened(program: Running, hash: string): Promise<Page> {
  const page = await pages.open(`${program.line}${hash}`);
  await heads(page).first().waitFor();
  return page;
}

test("a link to a message scrolls to its track", async () => {
  await using program = await view(session);
  const found = await pages.open(`${program.line}#q=member%3ADo25%20type%3Acall`);
  await waitForShown(found, 1);
  await found.keyboard.press("j");
  await expect.poll(() => found.url()).toContain("message=");
  const [, number] = /message=(\d+)/.exec(found.url()) ?? [];
  const link = new URL(`#view=timeline&merge=nothing&message=${number}`, found.url());
  const page = await pages.open(link.href);
  const scroller = page.locator(".timeline-scroller");
  await expect.poll(() => scroller.evaluate(({ scrollTop }) => scrollTop)).toBeGreaterThan(0);
  await expect
    .poll(() => heads(page).allTextContents())
    .toContainEqual(expect.stringContaining("dbus-send"));
});

test("tracks are sorted by the longest wait, found, and merged by program", async () => {
  await using program = await view(session);
  const page = await opened(program, "#view=timeline");
  await page.getByLabel("Track order").selectOption("longest-wait");
  await expect.poll(() => heads(page).nth(1).textContent()).toContain("dbus-send × ");
  await page.getByLabel("Find a track").fill("Service7");
  await expect.poll(() => heads(page).count()).toBe(1);
  expect(await heads(page).first().textContent()).toContain("org.example.Service7");
  await expect.poll(() => page.url()).toContain("track=Service7");
  await page.getByLabel("Find a track").fill("dbus-send");
  await expect.poll(() => heads(page).count()).toBe(1);
  await heads(page).getByRole("button", { name: "Expand" }).click();
  await expect.poll(() => heads(page).count()).toBeGreaterThan(5);
  await heads(page).getByRole("button", { name: "Merge" }).first().click();
  await expect.poll(() => heads(page).count()).toBe(1);
});

test("a collapsed track shows the name of its service", async () => {
  await using program = await view(session);
  const page = await opened(program, "#view=timeline&track=Service3");
  await page.getByText("collapse all").click();
  await page.getByText("expand all").waitFor();
  const names = await heads(page).allTextContents();
  expect(names.length).toBeGreaterThan(1);
  expect(names.filter((name) => !/Service3/.test(name))).toEqual([]);
});

test("a call whose caller gave up is shown as a wait", async () => {
  await using program = await view(session);
  const page = await opened(program, "#view=timeline&q=member%3ANever%20type%3Acall");
  await waitForShown(page, 1);
  await page.getByLabel("Find a track").fill("dbus-send");
  await expect.poll(() => heads(page).count()).toBe(1);
  const box = await page.locator(".timeline-surface").boundingBox();
  if (box === null) throw new Error("there are no tracks");
  const tip = page.locator(".timeline-tip");
  const words: string[] = [];
  for (let x = 0; x < box.width; x += 8) {
    await page.mouse.move(box.x + x, box.y + 36);
    words.push(...(await tip.allTextContents()));
  }
  expect(words.join()).toMatch(/caller left after \d+ ms/);
});
