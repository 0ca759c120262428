// A real browser whose pages must not report errors.

import {
  type Browser,
  type BrowserContext,
  type ConsoleMessage,
  chromium,
  type Page,
} from "playwright-core";
import { afterAll, afterEach, beforeAll, expect } from "vitest";

/** The browser for the tests of a file. Its pages are closed after each test. */
export interface Pages {
  open(url: string, options?: Options): Promise<Page>;
}

/** Options for opening a page. */
interface Options {
  readonly size?: { readonly width: number; readonly height: number };
  /** Waits until the page shows its content; true by default. */
  readonly settle?: boolean;
}

/** Runs the tests of this file in a browser. A test fails if a page reports an error. */
export function usePages(): Pages {
  let browser: Browser;
  const complaints: string[] = [];
  const contexts: BrowserContext[] = [];
  // An address works once, and later requests need the cookie. Nothing else is shared between
  // pages.
  let cookies: Cookies = [];
  beforeAll(async () => {
    browser = await chromium.launch({ executablePath: CHROMIUM, args: ARGUMENTS });
  });
  afterAll(() => browser.close());
  afterEach(async () => {
    await Promise.all(contexts.splice(0).map((context) => context.close()));
    expect(complaints.splice(0)).toEqual([]);
  });
  return {
    async open(url, { size = { width: 1600, height: 1000 }, settle = true } = {}) {
      const storageState = { cookies, origins: [] };
      const context = await browser.newContext({ viewport: size, storageState });
      contexts.push(context);
      const page = await context.newPage();
      page.on("pageerror", (error) => complaints.push(error.message));
      page.on("console", (message) => {
        if (message.type() === "error" && !isExpected(message)) complaints.push(message.text());
      });
      const { origin, pathname, hash } = new URL(url);
      if (pathname.startsWith("/open/")) {
        await context.request.get(`${origin}${pathname}`);
        await page.goto(`${origin}/${hash}`);
      } else {
        await page.goto(url);
      }
      cookies = await context.cookies();
      if (settle) await settled(page);
      return page;
    },
  };
}

/** True for expected errors: the program ended before its page, or an address was already used. */
function isExpected(message: ConsoleMessage): boolean {
  return message.text().includes("net::ERR_") || message.location().url.includes("/open/");
}

type Cookies = Awaited<ReturnType<BrowserContext["cookies"]>>;

/** Waits until the page has its whole recording, or the current messages of its bus. */
export async function settled(page: Page): Promise<void> {
  await page.waitForSelector(".progress-whole, .progress-incomplete, .progress-live");
  await page.waitForFunction(() =>
    /[1-9]/.test(document.querySelector(".counts")?.textContent ?? ""),
  );
}

/**
 * The numbers in the line with the count of messages. `all` equals `shown` unless some are hidden.
 */
export async function counts(page: Page): Promise<{ shown: number; all: number }> {
  const text = (await page.locator(".counts").textContent()) ?? "";
  const numbers = [...text.matchAll(/[\d,]+/g)].map(([digits]) =>
    Number(digits.replaceAll(",", "")),
  );
  const all = numbers.at(-1) ?? 0;
  return { shown: numbers[0] ?? 0, all };
}

/** Waits until this number of messages is shown. */
export async function waitForShown(page: Page, shown: number): Promise<void> {
  await expect.poll(async () => (await counts(page)).shown, { timeout: 10_000 }).toBe(shown);
}

const CHROMIUM = process.env.CHROMIUM ?? "/usr/bin/chromium";

/** Prevents the browser from making requests of its own. */
const ARGUMENTS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];
