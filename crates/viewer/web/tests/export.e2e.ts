// Saved pages, which work without a program and without a network.

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { expect, inject, test } from "vitest";
import { counts, usePages } from "./support/browser";
import { run } from "./support/program";

const pages = usePages();

/** Saves the page of the demonstration, and returns the path of the file. */
async function save(name: string, ...words: string[]): Promise<string> {
  const file = join(inject("folder"), name);
  await run("view", inject("recording"), "--export", file, ...words);
  return file;
}

/** The content of an element of a saved page, decoded and decompressed. */
async function packed(file: string, id: string): Promise<Buffer> {
  const text = await readFile(file, "utf8");
  const [, content] = text.match(new RegExp(`id="${id}">([^<]*)</script>`)) ?? [];
  return gunzipSync(Buffer.from(content ?? "", "base64"));
}

/** Texts in the messages of the demonstration. */
async function messageTexts(): Promise<string[]> {
  const messages = await run("export", inject("recording"), "--format", "json");
  const texts = new Set<string>();
  for (const line of messages.trim().split("\n")) {
    const { payload } = JSON.parse(line) as { payload?: { data: unknown } };
    collect(payload?.data, texts);
  }
  return [...texts];
}

function collect(value: unknown, texts: Set<string>): void {
  if (typeof value === "string") texts.add(value);
  else if (Array.isArray(value)) for (const item of value) collect(item, texts);
  else if (typeof value === "object" && value !== null) collect(Object.values(value), texts);
}

test("saved pages show the same count as the program", async () => {
  const page = await pages.open(`file://${await save("whole.html")}`);
  const stats = JSON.parse(await run("stats", inject("recording"), "--json"));
  expect((await counts(page)).shown).toBe(stats.summary.messages);
});

test("saved pages send no requests", async () => {
  const file = await save("alone.html");
  const requests: string[] = [];
  const shown = await pages.open(`file://${file}`);
  shown.on("request", (request) => requests.push(request.url()));
  await shown.getByRole("button", { name: "Statistics", exact: true }).click();
  await shown.getByRole("button", { name: "Findings", exact: true }).click();
  // Time for requests that must not happen.
  await shown.waitForTimeout(500);
  expect(requests.filter((url) => !url.startsWith("blob:"))).toEqual([]);
});

test("redacted pages contain no texts of messages", async () => {
  const file = await save("redacted.html", "--redact");
  const recording = (await packed(file, "recording")).toString("latin1");
  const secrets = (await messageTexts()).filter((text) => /\s/.test(text) && text.length > 8);
  expect(secrets.length).toBeGreaterThan(10);
  expect(secrets.filter((text) => recording.includes(text))).toEqual([]);
  const page = await pages.open(`file://${file}`);
  expect((await counts(page)).shown).toBeGreaterThan(100);
});
