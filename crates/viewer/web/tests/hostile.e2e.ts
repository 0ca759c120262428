// Contents of messages never become a part of the page.

import { join } from "node:path";
import type { Page } from "playwright-core";
import { expect, inject, test } from "vitest";
import { usePages } from "./support/browser";
import { type Message, writeCapture } from "./support/capture";
import { view } from "./support/program";

const pages = usePages();

/** Markup that changes the title of the page if a browser interprets it. */
const MARKUP = `<img src=x onerror="document.title='taken'"><script>document.title='taken'</script>`;

/** Texts that break careless code. */
const TEXTS = [
  MARKUP,
  `"><svg onload="document.title='taken'">`,
  "javascript:document.title='taken'",
  "\u202egnp.exe\u2066",
  "line\nline\ttab\u0007",
  "x".repeat(10_000),
  "&lt;b&gt; %00 {{7*7}} #{7*7}",
];

/** Messages that contain each text in every possible place, valid or not. */
function* hostile(): Generator<[number, Message]> {
  let serial = 0;
  for (const text of TEXTS) {
    const sender = `:1.${(serial % 5) + 1}`;
    const call = {
      path: "/org/example/Hostile",
      destination: "org.example.Hostile",
      member: "Take",
    };
    const at = serial * 1000;
    serial += 3;
    yield [at, { type: 1, serial, sender, ...call, interface: "org.example.H", body: [text] }];
    const reply = { sender: ":1.9", destination: sender, replySerial: serial, body: [text] };
    yield [at + 100, { type: 3, serial: serial + 1, error: "org.example.Error.No", ...reply }];
    const names = { path: text, interface: text, member: text, sender: text, destination: text };
    yield [at + 200, { type: 4, serial: serial + 2, ...names, body: [text] }];
  }
}

async function isUnharmed(page: Page): Promise<void> {
  expect(await page.title()).toBe("Diligence");
  expect(await page.locator("#page img, #page script, #page svg[onload]").count()).toBe(0);
  const { scrollWidth, innerWidth } = await page.evaluate(() => ({
    scrollWidth: document.documentElement.scrollWidth,
    innerWidth: window.innerWidth,
  }));
  expect(scrollWidth).toBeLessThanOrEqual(innerWidth);
}

test("hostile texts are harmless in all views and details", async () => {
  const file = join(inject("folder"), "hostile.pcap");
  writeCapture(file, hostile());
  await using program = await view(file);
  const page = await pages.open(program.line);
  for (const key of ["1", "2", "3", "4", "5"]) {
    await page.keyboard.press(key);
    // Time for effects that must not happen.
    await page.waitForTimeout(300);
    await isUnharmed(page);
  }
  await page.keyboard.press("1");
  for (let number = 1; number <= TEXTS.length * 3; number++) {
    await page.evaluate((to) => {
      location.hash = `#message=${to}`;
    }, number);
    await page
      .getByLabel("Details")
      .getByText(`message ${number}`, { exact: false })
      .first()
      .waitFor();
    await isUnharmed(page);
  }
});
