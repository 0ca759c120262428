// The address holds what is looked at, and keys are enough.

import { expect, inject, test } from "vitest";
import { counts, usePages, waitForShown } from "./support/browser";
import { run, view } from "./support/program";

const pages = usePages();

test("a link shows the same", async () => {
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
  const { shown } = await counts(one);
  const other = await pages.open(one.url());
  await waitForShown(other, shown);
  expect(await other.getByRole("combobox", { name: "Query" }).inputValue()).toBe("member:Search");
  const number = new URL(one.url()).hash.match(/message=(\d+)/)?.[1];
  await other.getByLabel("Details").getByText(`message ${number}`).first().waitFor();
});

test("keys choose views, open the sheet, and go to the query", async () => {
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

test("details tell what was said, and of the call its answer", async () => {
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
