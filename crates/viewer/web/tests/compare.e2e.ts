// Comparison of two recordings.

import { join } from "node:path";
import type { Page } from "playwright-core";
import { beforeAll, expect, inject, test } from "vitest";
import { usePages, waitForShown } from "./support/browser";
import { type Message, writeCapture } from "./support/capture";
import { type Running, view } from "./support/program";

const pages = usePages();
const before = (): string => join(inject("folder"), "before.pcap");
const after = (): string => join(inject("folder"), "after.pcap");

const END = { interface: "org.example.Shop1", path: "/shop" };

/** A call of a method that is answered after `took` milliseconds. */
function answered(at: number, serial: number, member: string, took: number): [number, Message][] {
  const [client, service] = [":1.5", ":1.6"];
  const call = { ...END, type: 1, serial, member, sender: client, destination: service } as const;
  const reply = {
    type: 2,
    serial,
    replySerial: serial,
    sender: service,
    destination: client,
  } as const;
  return [
    [at * 1000, call],
    [(at + took) * 1000, reply],
  ];
}

const signal = (at: number, serial: number, member: string): [number, Message] => [
  at * 1000,
  { ...END, type: 4, serial, member, sender: ":1.6" },
];

/**
 * Messages 1 to 5 are before, and 6 to 12 after: `Buy` is slower; `Returned` and a call of `Look`
 * are new.
 */
beforeAll(() => {
  writeCapture(before(), [
    ...answered(100, 1, "Look", 1),
    ...answered(110, 2, "Buy", 2),
    signal(120, 9, "Sold"),
  ]);
  writeCapture(after(), [
    ...answered(500_000, 1, "Look", 1),
    ...answered(500_010, 2, "Buy", 7.5),
    signal(500_020, 9, "Returned"),
    signal(500_021, 10, "Sold"),
    ...answered(500_030, 3, "Look", 1).slice(0, 1),
  ]);
});

async function sideBySide(program: Running, words = ""): Promise<Page> {
  const page = await pages.open(`${program.line}#view=compare&compare=sequences${words}`);
  await pairs(page).nth(1).waitFor();
  return page;
}

const pairs = (page: Page) =>
  page.getByRole("table", { name: "Visible messages, in pairs" }).getByRole("row");

/** The numbers of the messages of each pair, and their difference. */
async function visiblePairs(page: Page): Promise<string[]> {
  const rows = await pairs(page).all();
  const cells = await Promise.all(rows.slice(1).map((row) => row.locator("td").allTextContents()));
  return cells.map(([, one, , other, , difference]) => `${one}|${other} ${difference}`.trim());
}

test("corresponding messages are paired, and differences are noted", async () => {
  await using program = await view(before(), after());
  const page = await sideBySide(program);
  await expect
    .poll(() => visiblePairs(page))
    .toEqual([
      "1|6",
      "2|7",
      "3|8 after: +5.50 ms",
      "4|9",
      "5|11",
      "|10 after: only here",
      "|12 after: only here",
    ]);
  const sides = await page.locator(".compare-alone").allTextContents();
  expect(sides).toEqual(["5 messages", "2 only here, 1 slower of 7 messages"]);
});

test("keys step through both sides and differences, and the details follow", async () => {
  await using program = await view(before(), after());
  const page = await sideBySide(program);
  const number = (): string | null => new URL(page.url()).hash.match(/message=(\d+)/)?.[1] ?? null;
  for (const [key, expected] of [
    ["j", "1"],
    ["j", "2"],
    ["ArrowRight", "7"],
    ["k", "6"],
    ["x", "8"],
    ["ArrowLeft", "3"],
    ["x", "10"],
    ["Shift+X", "8"],
  ] as const) {
    await page.keyboard.press(key);
    await expect.poll(number, { message: key }).toBe(expected);
  }
  await page.getByLabel("Details").getByText("message 8").first().waitFor();
});

test("the address contains the tab and the time origin", async () => {
  await using program = await view(before(), after());
  const page = await sideBySide(program);
  await page.getByRole("combobox", { name: "Time origin" }).selectOption("clock");
  await expect.poll(() => page.url()).toContain("align=clock");
  const other = await sideBySide(program, "&align=clock");
  const clock = other.getByRole("combobox", { name: "Time origin" });
  expect(await clock.inputValue()).toBe("clock");
  // With a common clock they are minutes apart and share no lines, but the selection is shown on
  // both sides.
  await other.keyboard.press("j");
  await other.keyboard.press("ArrowRight");
  await expect.poll(() => other.url()).toContain("message=6");
  await other.getByRole("tab", { name: "Differences" }).click();
  await expect.poll(() => other.url()).not.toContain("compare=");
});

test("both sides scroll together", async () => {
  await using program = await view(inject("recording"), inject("recording"));
  const page = await sideBySide(program);
  const tops = (): Promise<number[]> =>
    page.locator(".sequence-scroller").evaluateAll((all) => all.map(({ scrollTop }) => scrollTop));
  for (const [place, delta] of [
    [0, 700],
    [1, 900],
  ] as const) {
    await page
      .locator(".sequence-scroller")
      .nth(place)
      .hover({ position: { x: 30, y: 200 } });
    await page.mouse.wheel(0, delta);
    await expect.poll(async () => (await tops())[place]).toBeGreaterThan(delta - 100);
    await expect.poll(async () => new Set(await tops()).size).toBe(1);
  }
});

test("a row of the differences leads to its messages on both sides", async () => {
  await using program = await view(before(), after());
  const page = await pages.open(`${program.line}#view=compare`);
  const grid = page.getByRole("grid", { name: "Changed methods and signals" });
  await grid.getByRole("row").filter({ hasText: "Returned" }).dblclick();
  await waitForShown(page, 1);
  await expect.poll(() => visiblePairs(page)).toEqual(["|10 after: only here"]);
  await expect.poll(() => page.url()).toContain("compare=sequences");
});

test("services count only visible messages", async () => {
  await using program = await view(before());
  const page = await pages.open(program.line);
  const counts = page.getByLabel("Services").first().locator(".service-count");
  await expect.poll(() => counts.allTextContents()).toEqual(["5", "4"]);
  const query = page.getByRole("combobox", { name: "Query" });
  await query.fill("member:Buy");
  await query.press("Enter");
  await expect.poll(() => counts.allTextContents()).toEqual(["2", "2"]);
});

test("column names are complete, and empty columns are left out", async () => {
  await using program = await view(before(), after());
  const page = await pages.open(`${program.line}#view=compare&sort=used_before`, {
    size: { width: 1280, height: 800 },
  });
  const grid = page.getByRole("grid", { name: "Changed methods and signals" });
  const heads = grid.getByRole("columnheader").getByRole("button");
  await expect.poll(() => heads.allTextContents()).toContain("used before");
  expect(await heads.allTextContents()).not.toContain("errors before");
  const cut = heads.evaluateAll((all) =>
    all.filter(({ clientWidth, scrollWidth }) => scrollWidth > clientWidth).map(String),
  );
  expect(await cut).toEqual([]);
});
