// Accessibility: use without a mouse and with a screen reader, checked by axe and beyond.

import { join } from "node:path";
import axe from "axe-core";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { usePages } from "./support/browser";
import { demo, type Running, run, view } from "./support/program";

const pages = usePages();

/** A state of the page: the fragment of its address, and actions that follow. */
interface State {
  readonly name: string;
  readonly hash: string;
  readonly act: (page: Page) => Promise<unknown>;
}

function state(name: string, hash: string, act: State["act"] = async () => {}): State {
  return { name, hash, act };
}

const press =
  (...keys: readonly string[]) =>
  async (page: Page): Promise<void> => {
    for (const key of keys) await page.keyboard.press(key);
  };

const STATES: readonly State[] = [
  state("sequence", ""),
  state("sequence, a message selected", "", press("j", "j", "j")),
  state("sequence, a service hidden", "#hide=%3A1.2"),
  state("sequence, the legend", "", (page) => page.getByRole("button", { name: "Legend" }).click()),
  state("a filter without a hit", "#q=member%3ANowhere"),
  state("an invalid filter", "#q=membr%3AGet"),
  state("a range of time", "#span=1000000000-2000000000"),
  ...["frequencies", "durations", "sizes", "by", "figures", "time", "rules", "replies"].map((tab) =>
    state(`statistics, ${tab}`, `#view=statistics&tab=${tab}`),
  ),
  state("statistics, a row", "#view=statistics", (page) => rowOf(page).click()),
  state("a menu", "#view=statistics", (page) => rowOf(page).click({ button: "right" })),
  state("the menu of Save", "", (page) => page.getByRole("button", { name: "Save" }).click()),
  state("timeline", "#view=timeline"),
  ...["Slowest calls", "By member", "Bus overhead", "Service starts", "List"].map((name) =>
    state(`timeline, ${name}`, "#view=timeline", (page) => page.getByRole("tab", { name }).click()),
  ),
  state("findings", "#view=findings"),
  state("findings, a message selected", "#view=findings", async (page) => {
    await page.locator(".finding-item", { hasText: "polling" }).first().click();
    await page.locator(".evidence").first().click();
  }),
  state("compare", "#view=compare"),
  state("compare, side by side", "#view=compare&compare=sequences"),
  state("objects of a recording", "#view=objects"),
  state("the keys", "", press("?")),
  state("the palette", "", press(":")),
];

function rowOf(page: Page) {
  return page.getByRole("gridcell").first();
}

/** A page with two recordings, which Compare needs. */
let recordings: Running;

beforeAll(async () => {
  const part = join(inject("folder"), "part.pcapng");
  await run("export", inject("recording"), "!member:Search", "--format", "pcapng", "-o", part);
  recordings = await view(inject("recording"), part);
});

afterAll(() => recordings[Symbol.asyncDispose]());

test.each(STATES)("accessibility of $name", async ({ hash, act }) => {
  const page = await pages.open(`${recordings.line}${hash}`);
  await act(page);
  await page.waitForTimeout(REST);
  expect(await violations(page)).toEqual([]);
});

const PLACE = { service: "com.example.Battery", path: "/com/example/Battery" };
const BATTERY = `#view=objects&${new URLSearchParams(PLACE)}`;
const ON_BUS: readonly State[] = [
  state("objects", BATTERY),
  state("a call", `${BATTERY}&method=com.example.Battery1.SetPowerProfile`),
  state("a property", `${BATTERY}&property=com.example.Battery1.PowerProfile`),
  state("signals", `${BATTERY}&object=signals`),
  state("calls", `${BATTERY}&object=calls`),
];

test.each(ON_BUS)("accessibility on a live bus: $name", async ({ hash, act }) => {
  const { bus, address } = await demo();
  await using _ = bus;
  await using program = await view("--live", "--allow-calls", "--address", address);
  const page = await pages.open(`${program.line}${hash}`);
  await act(page);
  await page.waitForTimeout(REST);
  expect(await violations(page)).toEqual([]);
});

test("the skip link leads past the services to the view", async () => {
  await using program = await view(inject("recording"));
  const page = await pages.open(`${program.line}#view=statistics`);
  const before = page.url();
  await page.keyboard.press("Tab");
  const link = page.locator(":focus");
  expect(await link.textContent()).toBe("Skip to the view");
  expect((await link.boundingBox())?.height).toBeGreaterThan(TARGET - 1);
  await page.keyboard.press("Enter");
  expect(await page.locator("main:focus").count()).toBe(1);
  expect(page.url()).toBe(before);
  await page.keyboard.press("Tab");
  expect(await page.getByRole("tab", { selected: true }).evaluate(isFocused)).toBe(true);
});

function isFocused(element: Element): boolean {
  return element === document.activeElement;
}

/** The accessibility violations of the page in light and dark colors, one per line. */
async function violations(page: Page): Promise<string[]> {
  await page.evaluate(axe.source);
  const found = new Set<string>(await smallTargets(page));
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    await page.waitForTimeout(REPAINT);
    for (const line of await axeLines(page)) found.add(`${colorScheme}: ${line}`);
  }
  return [...found];
}

/**
 * The violations that axe considers more than minor. The rule about labels in names is disabled by
 * default, so it is enabled explicitly.
 */
async function axeLines(page: Page): Promise<string[]> {
  const results = await page.evaluate(() => {
    const { axe } = window as unknown as { axe: typeof import("axe-core") };
    return axe.run(document, {
      resultTypes: ["violations"],
      rules: { "label-content-name-mismatch": { enabled: true } },
    });
  });
  return results.violations
    .filter(({ impact }) => impact !== "minor")
    .flatMap(({ id, impact, nodes }) =>
      nodes.map(({ html, failureSummary }) => `${impact} ${id}: ${html} ${failureSummary ?? ""}`),
    );
}

/**
 * Interactive elements that are smaller than {@link TARGET}. Checkboxes have a label that is large
 * enough.
 */
async function smallTargets(page: Page): Promise<string[]> {
  return page.evaluate((least) => {
    const pressed = document.querySelectorAll<HTMLElement>(
      "button, select, summary, input:not([type=checkbox]), label:has(> input[type=checkbox])",
    );
    return [...pressed]
      .filter((element) => element.checkVisibility({ visibilityProperty: true }))
      .map((element) => ({ element, box: element.getBoundingClientRect() }))
      .filter(({ box }) => box.width > 0 && box.height > 0)
      .filter(({ box }) => Math.min(box.width, box.height) < least - 0.5)
      .filter(({ element }) => !element.matches(".starts-bar, .service-only"))
      .map(({ element, box }) => `${box.width} x ${box.height}: ${element.outerHTML}`);
  }, TARGET);
}

/** The minimum size of a target in pixels. */
const TARGET = 24;

/** The time in milliseconds until answers are shown, and until other colors are painted. */
const REST = 600;
const REPAINT = 50;
