// Filters by services and by queries.

import type { Page } from "playwright-core";
import { expect, inject, test } from "vitest";
import { counts, usePages, waitForShown } from "./support/browser";
import { run, view } from "./support/program";

const pages = usePages();

/** The number of messages that a query selects, according to the program. */
async function selected(query: string): Promise<number> {
  const words = [inject("recording"), query].filter((word) => word !== "");
  return JSON.parse(await run("stats", ...words, "--json")).summary.messages;
}

function tick(page: Page, service: string) {
  return page.getByLabel("Services").getByRole("checkbox", { name: service, exact: true });
}

test("unticked services are hidden with all of their messages", async () => {
  await using program = await view(inject("recording"));
  const page = await pages.open(program.line);
  const all = await selected("");
  await waitForShown(page, all);
  await tick(page, "com.example.Volumes").uncheck();
  await waitForShown(page, await selected("not name:com.example.Volumes"));
  const seen = page.getByRole("table", { name: "Visible messages" });
  await expect
    .poll(async () => (await seen.textContent())?.includes("com.example.Volumes"))
    .toBe(false);
  await tick(page, "com.example.Chat").uncheck();
  const both = "not (name:com.example.Volumes or name:com.example.Chat)";
  await waitForShown(page, await selected(both));
  await tick(page, "com.example.Volumes").check();
  await waitForShown(page, await selected("not name:com.example.Chat"));
});

test("buttons hide all services, show all, and invert the selection", async () => {
  await using program = await view(inject("recording"));
  const page = await pages.open(program.line);
  const all = await selected("");
  await tick(page, "com.example.Chat").waitFor();
  await page.getByRole("button", { name: "None", exact: true }).click();
  await waitForShown(page, 0);
  await tick(page, "com.example.Chat").check();
  await page.getByRole("button", { name: "Invert", exact: true }).click();
  await waitForShown(page, await selected("not name:com.example.Chat"));
  await page.getByRole("button", { name: "All", exact: true }).click();
  await waitForShown(page, all);
});

test("a button shows only one service", async () => {
  await using program = await view(inject("recording"));
  const page = await pages.open(program.line);
  const line = page
    .getByLabel("Services")
    .getByRole("listitem")
    .filter({
      has: page.getByRole("checkbox", { name: "com.example.Battery", exact: true }),
    });
  await line.hover();
  await line.getByRole("button", { name: "only" }).click();
  await waitForShown(page, await selected("name:com.example.Battery"));
});

test.each(["type:call", "member:Get* or type:signal", "dur>1ms", "is:error", "not is:driver"])(
  "the query %s selects the same messages as in the program",
  async (query) => {
    await using program = await view(inject("recording"));
    const page = await pages.open(program.line);
    const box = page.getByRole("combobox", { name: "Query" });
    await box.fill(query);
    await box.press("Enter");
    await waitForShown(page, await selected(query));
  },
);

test("an invalid query is reported and keeps the previous messages", async () => {
  await using program = await view(inject("recording"));
  const page = await pages.open(`${program.line}#q=type:call`);
  const calls = await selected("type:call");
  await waitForShown(page, calls);
  await page.getByRole("combobox", { name: "Query" }).fill("type:color");
  await page.getByText(/color/).last().waitFor();
  expect((await counts(page)).shown).toBe(calls);
});

test("a query without matches is explained until it matches", async () => {
  await using program = await view(inject("recording"));
  const page = await pages.open(program.line);
  const box = page.getByRole("combobox", { name: "Query" });
  const problem = page.locator("#query-problem");
  await box.fill("member:getall");
  await waitForShown(page, 0);
  await expect
    .poll(() => problem.textContent())
    .toMatch(
      /^No message matches: no message has the member getall \(names are case-sensitive\); GetAll occurs \d+ times/,
    );
  expect(await box.getAttribute("aria-invalid")).toBe("false");
  await box.fill("dbus.member == GetAll");
  await expect
    .poll(() => problem.textContent())
    .toContain("Unknown field dbus.member. Did you mean member?");
  await box.fill("member:GetAll");
  await waitForShown(page, await selected("member:GetAll"));
  expect(await problem.isVisible()).toBe(false);
});

test("completions are offered while typing", async () => {
  await using program = await view(inject("recording"));
  const page = await pages.open(program.line);
  await page.getByRole("combobox", { name: "Query" }).pressSequentially("member:Sea");
  await page
    .getByRole("option", { name: /Search/ })
    .first()
    .click();
  await waitForShown(page, await selected("member:Search"));
});
