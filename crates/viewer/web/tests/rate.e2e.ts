// A bus on which much happens: how far the page is behind, and what it says of what it does not show.
// The budgets are those of a program that was built to be used (DILIGENCE_BUDGET=release), for a minute;
// what cargo builds for tests gets less traffic, more time, and some seconds.

import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { usePages } from "./support/browser";
import { bytesHeld, longestTask } from "./support/measure";
import { privateBus, view } from "./support/program";
import { Emitter } from "./support/traffic";

interface Budget {
  readonly seconds: number;
  /** Messages in a hundredth of a second. */
  readonly perBurst: number;
  /** Milliseconds from when a message was sent until it is counted in the page. */
  readonly behind: number;
  /** Milliseconds of the longest task. */
  readonly task: number;
  /** Milliseconds until it is found what a query selects. */
  readonly answer: number;
  /** Bytes of all that the tab's scripts hold. */
  readonly memory: number;
}

const RELEASE: Budget = {
  seconds: 60,
  perBurst: 200,
  behind: 1_000,
  // When the oldest messages go, all that is left is laid out anew.
  task: 100,
  answer: 1_000,
  memory: 600e6,
};
const DEBUG: Budget = {
  seconds: 6,
  perBurst: 40,
  behind: 5_000,
  task: 1_000,
  answer: 10_000,
  memory: 300e6,
};
const BUDGET = process.env.DILIGENCE_BUDGET === "release" ? RELEASE : DEBUG;

const pages = usePages();

test(`${BUDGET.perBurst * 100} messages a second`, { timeout: 180_000 }, async () => {
  const { bus, address } = await privateBus();
  await using _ = bus;
  await using program = await view("--live", "--address", address);
  const page = await pages.open(program.line);
  const { perBurst } = BUDGET;
  // What sending takes is a part of the hundredth of a second.
  const traffic = { bursts: BUDGET.seconds * 100, perBurst, pauseMicros: 9_000, size: 40 };
  await using emitter = await Emitter.join(address, traffic);
  const before = await seen(page);
  let answer = 0;
  let sent = { sent: 0, perSecond: 0 };
  const task = await longestTask(page, async () => {
    const sending = emitter.emit();
    await page.waitForTimeout((BUDGET.seconds * 1000) / 2);
    answer = await timeToSelect(page);
    sent = await sending;
  });
  const behind = await timeUntil(page, before + sent.sent);
  const memory = await bytesHeld(page);
  const missing = await page.locator(".missing").allTextContents();
  console.log({ ...sent, behind, task, answer, megabytes: memory / 1e6, missing });
  expect.soft(missing).toEqual([]);
  expect.soft(behind).toBeLessThanOrEqual(BUDGET.behind);
  expect.soft(answer).toBeLessThanOrEqual(BUDGET.answer);
  expect.soft(task).toBeLessThanOrEqual(BUDGET.task);
  expect.soft(memory).toBeLessThanOrEqual(BUDGET.memory);
});

test("what came too fast is counted, and said", { timeout: 120_000 }, async () => {
  const { bus, address } = await privateBus();
  await using _ = bus;
  await using program = await view("--live", "--address", address);
  const page = await pages.open(program.line);
  await using emitter = await Emitter.join(address, FLOOD);
  const before = await seen(page);
  // Who does not run does not read; what the bus keeps for it has an end.
  program.pause();
  const { sent } = await emitter.emit();
  program.resume();
  const mark = page.locator(".missing");
  await mark.waitFor({ timeout: 30_000 });
  expect(await mark.textContent()).toContain("the bus was faster than the program could read");
  const accounted = async (): Promise<number> => {
    const [digits = "0"] = (await mark.textContent())?.match(/[\d,]+/) ?? [];
    return (await seen(page)) - before + Number(digits.replaceAll(",", ""));
  };
  // What is missing and what is shown are all that was sent; and a few of who came and went.
  await expect.poll(accounted, { timeout: 30_000 }).toBeGreaterThanOrEqual(sent);
  expect((await accounted()) - sent).toBeLessThan(20);
});

/** More bytes than the bus keeps for who reads them later. */
const FLOOD = { bursts: 1, perBurst: 60_000, pauseMicros: 0, size: 2_000 };

/** The messages of which the page knows since it looks. */
async function seen(page: Page): Promise<number> {
  const text = (await page.locator(".progress-live").getAttribute("title")) ?? "";
  const [digits = "0"] = text.match(/[\d,]+/) ?? [];
  return Number(digits.replaceAll(",", ""));
}

/** Milliseconds until the page knows of so many messages. */
async function timeUntil(page: Page, messages: number): Promise<number> {
  const begun = performance.now();
  await expect
    .poll(() => seen(page), { timeout: 30_000, interval: 20 })
    .toBeGreaterThanOrEqual(messages);
  return Math.round(performance.now() - begun);
}

/** Milliseconds from when a query is written until what it selects is shown. */
async function timeToSelect(page: Page): Promise<number> {
  const begun = performance.now();
  await page.getByRole("combobox").first().fill("member=NameAcquired");
  await page.waitForFunction(
    () => (document.querySelector(".counts")?.textContent ?? "").includes(" of "),
    undefined,
    { polling: 20, timeout: 30_000 },
  );
  const took = Math.round(performance.now() - begun);
  await page.getByRole("combobox").first().fill("");
  return took;
}
