// A live bus while programs use it.

import { expect, test } from "vitest";
import { counts, usePages } from "./support/browser";
import { demo, Running, view } from "./support/program";

const pages = usePages();

test("live messages appear as they are sent", async () => {
  const { bus, address } = await demo();
  await using _ = bus;
  await using program = await view("--live", "--address", address);
  const page = await pages.open(program.line);
  const { all } = await counts(page);
  await expect
    .poll(async () => (await counts(page)).all, { timeout: 20_000 })
    .toBeGreaterThan(all + 50);
  const ticks = page.getByLabel("Services");
  await ticks.getByRole("checkbox", { name: "com.example.Volumes", exact: true }).waitFor();
});

test("a private bus prints the address of its page", async () => {
  await using bus = await Running.start(["up", "--demo"], "http://");
  const page = await pages.open(bus.line);
  await expect.poll(async () => (await counts(page)).all, { timeout: 20_000 }).toBeGreaterThan(20);
});

test("the page reports the end of the bus", async () => {
  const { bus, address } = await demo();
  await using program = await view("--live", "--address", address);
  const page = await pages.open(program.line);
  await bus[Symbol.asyncDispose]();
  await page.locator(".progress-ended").waitFor({ timeout: 30_000 });
});
