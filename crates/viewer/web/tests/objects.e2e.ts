// What a running bus has to offer, and that nothing is called there that must not be.

import { expect, inject, test } from "vitest";
import { usePages } from "./support/browser";
import { demo, run, view } from "./support/program";

const pages = usePages();

test("a method is called from a form", async () => {
  const { bus, address } = await demo();
  await using _ = bus;
  await using program = await view("--live", "--allow-calls", "--address", address);
  const page = await pages.open(`${program.line}#view=objects`);
  const objects = page.getByRole("main");
  await objects.getByRole("button", { name: /^com\.example\.Battery / }).click();
  await objects.getByRole("button", { name: /SetPowerProfile/ }).click();
  await objects.getByRole("textbox", { name: /profile/ }).fill("saver");
  await objects.getByRole("button", { name: "Call", exact: true }).click();
  await objects
    .getByText(/ (µs|ms)$/)
    .first()
    .waitFor();
  const profile = objects.getByRole("listitem").filter({ hasText: "PowerProfile" }).first();
  await expect.poll(() => profile.textContent()).toContain("saver");
});

test("without the word of the user nothing is called", async () => {
  const { bus, address } = await demo();
  await using _ = bus;
  await using program = await view("--live", "--address", address);
  const call = { service: "com.example.Battery", path: "/com/example/Battery", method: "Ping" };
  const response = await fetch(`${program.line}bus`, {
    method: "POST",
    body: JSON.stringify({ do: "call", call }),
  });
  expect(await response.json()).toMatchObject({
    failure: expect.stringContaining("--allow-calls"),
  });
});

test("a recording has no objects, and the view says what has", async () => {
  await using program = await view(inject("recording"));
  const page = await pages.open(`${program.line}#view=objects`);
  await page.getByRole("main").getByText("diligence view --live").first().waitFor();
  expect(await run("view", "--help")).toContain("--allow-calls");
});
