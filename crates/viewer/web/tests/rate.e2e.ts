// A busy bus: how far the page lags behind, and how it reports missing messages. The budgets apply
// to release builds (DILIGENCE_BUDGET=release) and a duration of one minute; test builds get less
// traffic, more time, and a few seconds.

import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { usePages } from "./support/browser";
import { bytesHeld, longestTask } from "./support/measure";
import { privateBus, view } from "./support/program";
import { Emitter } from "./support/traffic";

interface Budget {
  readonly seconds: number;
  /** The number of messages per hundredth of a second. */
  readonly perBurst: number;
  /** The time in milliseconds from sending a message until the page counts it. */
  readonly behind: number;
  /** The duration in milliseconds of the longest task. */
  readonly task: number;
  /** The time in milliseconds until the messages that match a query are known. */
  readonly answer: number;
  /** The memory in bytes that the scripts of the tab hold. */
  readonly memory: number;
}

const RELEASE: Budget = {
  seconds: 60,
  perBurst: 200,
  behind: 1_000,
  // When the oldest messages are dropped, everything is laid out again.
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

test(`${BUDGET.perBurst * 100} messages per second are shown`, { timeout: 180_000 }, async () => {
  const { bus, address } = await privateBus();
  await using _ = bus;
  await using program = await view("--live", "--address", address);
  const page = await pages.open(program.line);
  const { perBurst } = BUDGET;
  // The pause and the time needed for sending add up to a hundredth of a second.
  const traffic = { bursts: BUDGET.seconds * 100, perBurst, pauseMicros: 9_000, size: 40 };
  await using emitter = await Emitter.join(address, traffic);
  const before = await received(page);
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

test("messages that arrive too fast are counted as missing", { timeout: 120_000 }, async () => {
  const { bus, address } = await privateBus();
  await using _ = bus;
  await using program = await view("--live", "--address", address);
  const page = await pages.open(program.line);
  await using emitter = await Emitter.join(address, FLOOD);
  const before = await received(page);
  // While the program is paused it does not read, and the buffer of the bus overflows.
  program.pause();
  const { sent } = await emitter.emit();
  program.resume();
  const mark = page.locator(".missing");
  await mark.waitFor({ timeout: 30_000 });
  expect(await mark.textContent()).toContain("the bus was faster than the program could read");
  const accounted = async (): Promise<number> => {
    const [digits = "0"] = (await mark.textContent())?.match(/[\d,]+/) ?? [];
    return (await received(page)) - before + Number(digits.replaceAll(",", ""));
  };
  // The missing and the shown messages include all sent messages, and a few about connections that
  // came and left.
  await expect.poll(accounted, { timeout: 30_000 }).toBeGreaterThanOrEqual(sent);
  expect((await accounted()) - sent).toBeLessThan(20);
});

/** More bytes than the bus buffers for a slow reader. */
const FLOOD = { bursts: 1, perBurst: 60_000, pauseMicros: 0, size: 2_000 };

/** The number of messages that the page has received since it was opened. */
async function received(page: Page): Promise<number> {
  const text = (await page.locator(".progress-live").getAttribute("title")) ?? "";
  const [digits = "0"] = text.match(/[\d,]+/) ?? [];
  return Number(digits.replaceAll(",", ""));
}

/** The time in milliseconds until the page has received this number of messages. */
async function timeUntil(page: Page, messages: number): Promise<number> {
  const begun = performance.now();
  await expect
    .poll(() => received(page), { timeout: 30_000, interval: 20 })
    .toBeGreaterThanOrEqual(messages);
  return Math.round(performance.now() - begun);
}

/** The time in milliseconds from entering a query until its result is shown. */
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
