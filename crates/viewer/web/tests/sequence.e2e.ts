// The sequence diagram of a session with more connections than fit on the screen.

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { beforeAll, expect, inject, test } from "vitest";
import { usePages, waitForShown } from "./support/browser";
import { run, view } from "./support/program";
import { CALLS, GIVEN_UP_MS, recordSession, SERVICES, SLOW_MS } from "./support/session";

const pages = usePages();
let session = "";

beforeAll(async () => {
  session = join(inject("folder"), "session.pcapng");
  await recordSession(session);
}, 120_000);

/** Opens the page of the session. */
async function opened(hash = "", width = 1440): Promise<{ page: Page; end: () => Promise<void> }> {
  const program = await view(session);
  const page = await pages.open(`${program.line}${hash}`, { size: { width, height: 900 } });
  return { page, end: () => program[Symbol.asyncDispose]() };
}

/** Saves a picture of the diagram through the menu, with this scope and format. */
async function picture(page: Page, what: string, format: string): Promise<Buffer> {
  await page.getByRole("button", { name: "Picture" }).click();
  const saved = page.waitForEvent("download");
  await page.getByRole("menuitem", { name: `${what} as ${format}` }).click();
  return readFile(await (await saved).path());
}

/** The texts in a picture. */
async function texts(page: Page, what = "All messages shown"): Promise<string[]> {
  const svg = String(await picture(page, what, "SVG"));
  return [...svg.matchAll(/<text [^>]*>([^<]*)<\/text>/g)].map(([, text = ""]) => text);
}

/** True for a duration of at least `least` milliseconds, such as `301 ms`. */
function isMilliseconds(text: string, least: number): boolean {
  const [, number] = /(\d+) ms$/.exec(text) ?? [];
  return number !== undefined && Number(number) >= least && Number(number) < least + 200;
}

test("one-shot clients have one column until it is expanded", async () => {
  const { page, end } = await opened();
  const peers = JSON.parse(await run("stats", session, "--by", "sender", "--json")) as unknown[];
  expect(peers.length).toBeGreaterThan(120);
  const merged = (await texts(page)).filter((text) => text.startsWith("dbus-send × "));
  const [count = 0] = merged.map((text) => Number(text.slice("dbus-send × ".length)));
  // And the messages that were held until their services had started.
  expect(count).toBeGreaterThanOrEqual(2 * CALLS + 2);
  await page.keyboard.press("Shift+E");
  const alone = (await texts(page)).filter((text) => /^(…|dbus-)send \(:1\.\d+\)$/.test(text));
  expect(new Set(alone).size).toBeGreaterThan(5);
  await expect.poll(() => page.url()).toContain("merge=nothing");
  await end();
});

test("a key expands the column of the selected message, and merges it again", async () => {
  const { page, end } = await opened("#q=member%3AAgain%20type%3Acall");
  const heads = async (): Promise<number> =>
    (await texts(page)).filter((text) => text.startsWith("dbus-send × ")).length;
  await waitForShown(page, CALLS);
  await page.keyboard.press("z");
  await page.keyboard.press("j");
  expect(await heads()).toBe(1);
  await page.keyboard.press("e");
  expect(await heads()).toBe(0);
  // The details name the connection even if its column is merged.
  await page.keyboard.press("e");
  expect(await heads()).toBe(1);
  await page
    .getByLabel("Details")
    .getByText(/dbus-send \(:1\.\d+\)/)
    .first()
    .waitFor();
  await end();
});

test("calls show their duration and result even if the reply is hidden", async () => {
  const { page, end } = await opened("#q=interface%3Aorg.example.Work%20type%3Acall%20dur%3E100ms");
  await waitForShown(page, 2);
  expect((await texts(page)).some((text) => isMilliseconds(text, SLOW_MS))).toBe(true);
  await page.getByRole("combobox", { name: "Query" }).fill("member:Never type:call");
  await waitForShown(page, 1);
  const waited = (await texts(page)).find((text) => text.startsWith("caller left "));
  expect(isMilliseconds(waited ?? "", GIVEN_UP_MS)).toBe(true);
  await page.locator("body").click({ position: { x: 5, y: 5 } });
  await page.keyboard.press("j");
  const first = page.getByLabel("Details").locator("dl.facts > *").first();
  await expect.poll(() => first.textContent()).toContain("Duration");
  await page.getByText("until the caller left, without a reply").waitFor();
  await end();
});

test("pictures are saved in the selected format", async () => {
  const { page, end } = await opened();
  const png = await picture(page, "Visible range", "PNG");
  expect([...png.subarray(1, 4)].map((byte) => String.fromCharCode(byte)).join("")).toBe("PNG");
  const pdf = await picture(page, "Visible range", "PDF");
  expect(String(pdf.subarray(0, 5))).toBe("%PDF-");
  // The first messages of the recording determine the visible services.
  const names = (await texts(page, "Visible range")).filter((text) => text.startsWith("org."));
  expect(names).not.toEqual([]);
  expect(names.filter((name) => !pdf.includes(name))).toEqual([]);
  await page.keyboard.press("j");
  const saved = page.waitForEvent("download");
  await page.keyboard.press(":");
  await page.keyboard.type("export call svg");
  await page.keyboard.press("Enter");
  expect(String(await readFile(await (await saved).path()))).toContain("<svg ");
  await end();
});

test("every visible line has a mark, even in a narrow window", async () => {
  const { page, end } = await opened("#fold=nothing", 800);
  const scroller = page.locator(".sequence-scroller");
  for (let part = 0; part <= 10; part++) {
    await scroller.evaluate((element, share) => {
      element.scrollTop = (element.scrollHeight - element.clientHeight) * share;
    }, part / 10);
    await page.waitForTimeout(300);
    const { lines, empty } = await page.evaluate(linesWithoutColor, LINE);
    expect(lines).toBeGreaterThan(3);
    expect({ part, empty }).toEqual({ part, empty: 0 });
  }
  await end();
});

const LINE = 34;

/**
 * Counts the visible lines, and the lines without any colored pixel among the columns. Runs in the
 * page.
 */
function linesWithoutColor(line: number): { lines: number; empty: number } {
  const canvas = document.querySelector<HTMLCanvasElement>(".sequence-canvas");
  const edge = document.querySelector<HTMLElement>(".sequence-edge");
  const scroller = document.querySelector<HTMLElement>(".sequence-scroller");
  const context = canvas?.getContext("2d");
  if (!canvas || !edge || !scroller || !context) throw new Error("there is no diagram");
  const left = edge.offsetLeft + edge.offsetWidth;
  const { data, width, height } = context.getImageData(0, 0, canvas.width, canvas.height);
  const isColored = (y: number): boolean => {
    for (let x = left; x < width; x++) {
      const at = (y * width + x) * 4;
      const parts = [data[at], data[at + 1], data[at + 2]].map((part) => part ?? 0);
      if (Math.max(...parts) - Math.min(...parts) > 60) return true;
    }
    return false;
  };
  // The head of columns ends where a row of pixels has a single color.
  let head = 40;
  while (head < height && !isRule(head)) head++;
  function isRule(y: number): boolean {
    const at = y * width * 4;
    const first = data.slice(at, at + 3).join();
    for (let x = 0; x < width; x += 7) {
      if (data.slice(at + x * 4, at + x * 4 + 3).join() !== first) return false;
    }
    return first !== data.slice(0, 3).join();
  }
  const shift = scroller.scrollTop % line;
  let [lines, empty] = [0, 0];
  for (let top = head + 1 + (line - shift); top + line <= height; top += line, lines++) {
    let found = false;
    for (let y = Math.floor(top); y < top + line - 1 && !found; y++) found = isColored(y);
    if (!found) empty++;
  }
  return { lines, empty };
}

test("a click on the name of a hidden column scrolls to it", async () => {
  const { page, end } = await opened("#q=member%3ADo*%20type%3Acall&merge=nothing", 800);
  await waitForShown(page, CALLS);
  const scroller = page.locator(".sequence-scroller");
  const box = await scroller.boundingBox();
  if (box === null) throw new Error("there is no diagram");
  const tip = page.getByRole("tooltip");
  let found: number | undefined;
  for (let y = 150; y < box.height && found === undefined; y += 6) {
    await page.mouse.move(box.x + box.width - 30, box.y + y);
    await page.waitForTimeout(450);
    if ((await tip.allTextContents()).join().includes("to scroll there")) found = y;
  }
  expect(found).toBeDefined();
  expect(await scroller.evaluate(({ scrollLeft }) => scrollLeft)).toBe(0);
  await page.mouse.click(box.x + box.width - 30, box.y + (found ?? 0));
  await expect.poll(() => scroller.evaluate(({ scrollLeft }) => scrollLeft)).toBeGreaterThan(0);
  await end();
});

test("Escape closes the legend and keeps the selection", async () => {
  const { page, end } = await opened();
  await page.keyboard.press("j");
  await page.getByRole("button", { name: "Legend" }).click();
  await page.getByRole("region", { name: "Legend" }).waitFor();
  for (const meaning of ["Selected", "Connected", "Disconnected", "Very slow: 1 s or more"]) {
    await page
      .getByRole("region", { name: "Legend" })
      .getByText(meaning, { exact: true })
      .waitFor();
  }
  await page.keyboard.press("Escape");
  await page.getByRole("region", { name: "Legend" }).waitFor({ state: "detached" });
  await expect.poll(() => page.url()).toContain("message=");
  await end();
});

test("times of day are not cut off", async () => {
  const { page, end } = await opened("#times=wall");
  const visible = (await texts(page, "Visible range")).filter((text) => /\d:\d\d:\d\d/.test(text));
  expect(visible.length).toBeGreaterThan(5);
  expect(visible.filter((text) => !/^(↑ )?\d\d:\d\d:\d\d\.\d{6}$/.test(text))).toEqual([]);
  const svg = String(await picture(page, "Visible range", "SVG"));
  const lefts = [...svg.matchAll(/<text x="([-\d.]+)"[^>]*>(?:↑ )?\d\d:\d\d/g)];
  expect(Math.min(...lefts.map(([, x]) => Number(x)))).toBeGreaterThan(0);
  await end();
});

test("the picture of a session contains all services in its range", async () => {
  const { page, end } = await opened("#q=member%3ADo*%20type%3Acall");
  await waitForShown(page, CALLS);
  const visible = new Set(
    (await texts(page)).filter((text) => text.startsWith("org.example.Service")),
  );
  expect(visible.size).toBe(SERVICES);
  await end();
});

test("times can be relative to a message, and a link restores this", async () => {
  const { page, end } = await opened();
  for (const key of ["j", "j", "j", "m"]) await page.keyboard.press(key);
  await expect.poll(() => page.url()).toMatch(/message=(\d+)&reference=\1$/);
  const isOfReference = (texts: readonly string[]): void => {
    expect(texts).toContain("From reference");
    expect(texts).toContain("+0.000\u2009000 s");
    expect(texts.some((text) => /^−0\.\d{3}\u2009\d{3} s$/.test(text))).toBe(true);
  };
  isOfReference(await texts(page, "Visible range"));
  const other = await pages.open(page.url(), { size: { width: 1440, height: 900 } });
  isOfReference(await texts(other, "Visible range"));
  await page.keyboard.press("m");
  await expect.poll(() => page.url()).not.toContain("reference");
  expect(await texts(page, "Visible range")).not.toContain("From reference");
  await end();
});

test("a context menu opened by a key is below the selected message", async () => {
  const { page, end } = await opened();
  const top = async (): Promise<number> => {
    await page.keyboard.press("Shift+F10");
    const box = await page.getByRole("menu").boundingBox();
    await page.keyboard.press("Escape");
    return box?.y ?? Number.NaN;
  };
  await page.keyboard.press("j");
  const first = await top();
  await page.keyboard.press("j");
  const second = await top();
  expect(second - first).toBeGreaterThan(20);
  expect(second - first).toBeLessThan(60);
  await end();
});
