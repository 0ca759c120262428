// The objects view on a live bus, and the permission to call methods.

import { expect, inject, test } from "vitest";
import type { BusRequest } from "../src/generated/protocol";
import { usePages } from "./support/browser";
import { demo, type Running, run, view } from "./support/program";

const pages = usePages();

const PLACE = { service: "com.example.Battery", path: "/com/example/Battery" };
const BATTERY = `#view=objects&${new URLSearchParams(PLACE)}`;

/** The answer of the program to a request to the bus, without the name of the request. */
async function ask(program: Running, request: BusRequest): Promise<unknown> {
  const body = JSON.stringify(request);
  const headers = { cookie: await program.cookie() };
  const response = await fetch(new URL("/bus", program.line), { method: "POST", headers, body });
  const reply = (await response.json()) as {
    answer?: Record<string, unknown>;
    failure?: string;
  };
  if (reply.failure !== undefined) throw new Error(reply.failure);
  return reply.answer?.[request.do];
}

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

test("a property is set from a form, and its change arrives", async () => {
  const { bus, address } = await demo();
  await using _ = bus;
  await using program = await view("--live", "--allow-calls", "--address", address);
  const page = await pages.open(
    `${program.line}${BATTERY}&property=com.example.Battery1.PowerProfile`,
  );
  const objects = page.getByRole("main");
  const profile = objects.getByRole("listitem").filter({ hasText: "PowerProfile" }).first();
  await profile.getByRole("textbox").fill("turbo");
  await profile.getByRole("button", { name: "Set", exact: true }).click();
  await profile.getByText(/there is no power profile "turbo"/).waitFor();
  await profile.getByRole("textbox").fill("performance");
  await profile.getByRole("button", { name: "Set", exact: true }).click();
  await expect.poll(() => profile.locator(".objects-value").textContent()).toContain("performance");
  await expect.poll(() => page.url()).not.toContain("property=");
  await objects.getByRole("button", { name: /^Signals/ }).click();
  const signals = objects.getByLabel("Signals").getByRole("listitem");
  await signals
    .filter({ hasText: "PropertiesChanged" })
    .filter({ hasText: "performance" })
    .waitFor();
  const { returned } = (await ask(program, {
    do: "get",
    property: { ...PLACE, interface: "com.example.Battery1", property: "PowerProfile" },
  })) as { returned: object };
  expect(returned).toMatchObject({ results: [{ type: "s", data: "performance" }] });
});

test("Enter submits a form, and a text input can have several lines", async () => {
  const { bus, address } = await demo();
  await using _ = bus;
  await using program = await view("--live", "--allow-calls", "--address", address);
  const method = "&method=com.example.Battery1.SetPowerProfile";
  const page = await pages.open(`${program.line}${BATTERY}${method}`);
  const objects = page.getByRole("main");
  const text = objects.getByRole("textbox", { name: /profile/ });
  const failed = objects.locator(".objects-outcome .objects-failed");
  const profile = objects.getByRole("listitem").filter({ hasText: "PowerProfile" }).first();
  await text.fill("performance");
  await text.press("Enter");
  await expect.poll(() => profile.textContent()).toContain("performance");
  expect(await text.inputValue()).toBe("performance");
  await text.press("Shift+Enter");
  expect(await text.inputValue()).toBe("performance\n");
  await text.press("Enter");
  await expect.poll(() => failed.textContent()).toContain("performance");
  await text.fill("a");
  await objects.getByRole("button", { name: /Several lines/ }).click();
  await text.press("Enter");
  expect(await text.inputValue()).toBe("a\n");
  await text.fill("saver");
  await text.press("Control+Enter");
  await expect.poll(() => profile.textContent()).toContain("saver");
});

test("arguments can be entered in GVariant syntax, and errors are marked", async () => {
  const { bus, address } = await demo();
  await using _ = bus;
  await using program = await view("--live", "--allow-calls", "--address", address);
  const method = "&method=com.example.Battery1.SetPowerProfile";
  const page = await pages.open(`${program.line}${BATTERY}${method}`);
  const objects = page.getByRole("main");
  await objects.getByRole("textbox", { name: /profile/ }).fill("it's");
  await objects.getByRole("button", { name: "GVariant text" }).click();
  const text = objects.getByRole("textbox", { name: /GVariant text, s$/ });
  expect(await text.inputValue()).toBe('"it\'s"');
  await objects.getByText("1 argument, valid").waitFor();
  await text.fill("('saver', 7)");
  await objects.getByText(/expected 1, got 2/).waitFor();
  await text.fill("saver");
  await objects.getByText("Expected a value (strings need quotes)").waitFor();
  expect(await objects.locator(".query-place mark").textContent()).toBe("s");
  expect(await text.getAttribute("aria-invalid")).toBe("true");
  expect(await objects.getByRole("button", { name: "Copy busctl" }).isDisabled()).toBe(true);
  // The latest text is sent, even if it has not been parsed yet.
  await text.fill("'saver'");
  await text.press("Enter");
  const profile = objects.getByRole("listitem").filter({ hasText: "PowerProfile" }).first();
  await expect.poll(() => profile.textContent()).toContain("saver");
  await objects.getByRole("button", { name: "GVariant text" }).click();
  expect(await objects.getByRole("textbox", { name: /profile/ }).inputValue()).toBe("saver");
});

test("names appear and disappear without a refresh", async () => {
  const { bus, address } = await demo();
  await using _ = bus;
  await using program = await view("--live", "--allow-calls", "--address", address);
  const page = await pages.open(`${program.line}#view=objects`);
  const names = page.getByRole("region", { name: "Names" });
  await names.getByRole("button", { name: /^com\.example\.Battery / }).waitFor();
  const other = await view("--live", "--allow-calls", "--address", address);
  const own = names.getByRole("button", { name: /^org\.example\.Late/ });
  expect(await own.count()).toBe(0);
  await ask(other, {
    do: "call",
    call: {
      service: "org.freedesktop.DBus",
      path: "/org/freedesktop/DBus",
      interface: "org.freedesktop.DBus",
      method: "RequestName",
      signature: "su",
      arguments: ["org.example.Late", 0],
    },
  });
  await own.waitFor();
  await expect.poll(() => own.textContent()).toContain("diligence");
  await other[Symbol.asyncDispose]();
  await expect.poll(() => own.count()).toBe(0);
});

test("objects appear and disappear without a refresh", async () => {
  const { bus, address } = await demo();
  await using _ = bus;
  await using program = await view("--live", "--address", address);
  const place = "#view=objects&service=com.example.Volumes&path=%2Fcom%2Fexample%2FVolumes";
  const page = await pages.open(`${program.line}${place}`);
  const tree = page.getByRole("tree");
  const first = tree.getByRole("treeitem", { name: /^v\d/ }).first();
  const before = await first.textContent();
  await expect.poll(() => first.textContent(), { timeout: 30_000 }).not.toBe(before);
});

test("methods cannot be called without permission", async () => {
  const { bus, address } = await demo();
  await using _ = bus;
  await using program = await view("--live", "--address", address);
  const property = { ...PLACE, interface: "com.example.Battery1", property: "PowerProfile" };
  const requests: readonly BusRequest[] = [
    { do: "call", call: { ...PLACE, method: "Ping" } },
    { do: "set", property, signature: "s", value: "saver" },
  ];
  for (const request of requests) {
    await expect(ask(program, request)).rejects.toThrow(
      "this page may not call methods or set properties: start `diligence` with --allow-calls",
    );
  }
  const page = await pages.open(
    `${await program.nextLine()}${BATTERY}&property=com.example.Battery1.PowerProfile`,
  );
  const objects = page.getByRole("main");
  await objects.getByText("Read-only.").waitFor();
  const profile = objects.getByRole("listitem").filter({ hasText: "PowerProfile" }).first();
  await expect.poll(() => profile.locator(".objects-value").textContent()).toContain("balanced");
  expect(await profile.getByRole("button", { name: /^Set/ }).count()).toBe(0);
});

test("a recording has no objects, and the view explains how to browse a bus", async () => {
  await using program = await view(inject("recording"));
  const page = await pages.open(`${program.line}#view=objects`);
  await page.getByRole("main").getByText("diligence view --live").first().waitFor();
  expect(await run("view", "--help")).toContain("--allow-calls");
});
