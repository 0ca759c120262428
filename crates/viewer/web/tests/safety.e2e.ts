// Access control of the server, from HTTP requests to the user's browser.

import { mkdtemp, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { request } from "node:http";
import { join } from "node:path";
import { describe, expect, inject, test } from "vitest";
import { settled, usePages } from "./support/browser";
import { Running, view } from "./support/program";

interface Asked {
  readonly path?: string;
  readonly method?: string;
  readonly headers?: Record<string, string>;
}

interface Answered {
  readonly status: number;
  readonly fields: Record<string, unknown>;
  readonly body: string;
}

/** Sends a request to the server of a page, with the given headers. */
function ask(url: string, { path = "/", method = "GET", headers = {} }: Asked): Promise<Answered> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    request({ hostname, port, path, method, headers }, (response) => {
      let body = "";
      response.setEncoding("utf8");
      response.on("data", (chunk) => {
        body += chunk;
      });
      response.on("end", () =>
        resolve({ status: response.statusCode ?? 0, fields: response.headers, body }),
      );
    })
      .on("error", reject)
      .end();
  });
}

/** Uses up an address, and returns the cookie. */
async function cookieOf(url: string): Promise<string> {
  const { fields } = await ask(url, { path: new URL(url).pathname });
  const [cookie = ""] = fields["set-cookie"] as string[];
  return cookie.split(";")[0] ?? "";
}

describe("only requests of the page itself are answered", () => {
  test.each<[string, Asked, number]>([
    ["the page", {}, 200],
    ["no cookie", { headers: { cookie: "" } }, 403],
    ["another cookie", { headers: { cookie: "diligence-1=0123456789abcdef" } }, 403],
    ["the recording without a cookie", { path: "/stream", headers: { cookie: "" } }, 403],
    ["a file outside of the page", { path: "/../../etc/passwd" }, 404],
    ["a wrong code", { path: "/open/0123456789abcdef0123456789abcdef" }, 403],
    ["a foreign name for this address", { headers: { host: "evil.example" } }, 421],
    ["another port", { headers: { host: "127.0.0.1:1" } }, 421],
    ["a target elsewhere", { path: "http://evil.example/" }, 421],
    ["a page of another site", { headers: { origin: "http://evil.example" } }, 403],
    ["a page without an origin", { headers: { origin: "null" } }, 403],
    ["a page of another port", { headers: { "sec-fetch-site": "same-site" } }, 403],
  ])("the response to a request: %s", async (_, request, status) => {
    await using program = await view(inject("recording"));
    const cookie = await cookieOf(program.line);
    const headers = { cookie, ...request.headers };
    expect((await ask(program.line, { ...request, headers })).status).toBe(status);
  });

  test("answers have headers that protect the page", async () => {
    await using program = await view(inject("recording"));
    const { fields } = await ask(program.line, {});
    expect(fields).toMatchObject({
      "content-security-policy": expect.stringContaining("default-src 'none'"),
      "cross-origin-resource-policy": "same-origin",
      "referrer-policy": "no-referrer",
      "x-content-type-options": "nosniff",
      "cache-control": "no-store",
    });
    expect(fields).not.toHaveProperty("access-control-allow-origin");
  });

  test("an address works once, and the program prints the next one", async () => {
    await using program = await view(inject("recording"));
    const first = program.line;
    const path = new URL(first).pathname;
    expect((await ask(first, { path, method: "HEAD" })).status).toBe(405);
    expect((await ask(first, { path })).fields["set-cookie"]).toEqual([
      expect.stringMatching(/^diligence-\d+=[0-9a-f]{32}; Path=\/; HttpOnly; SameSite=Strict$/),
    ]);
    const again = await ask(first, { path });
    expect(again.status).toBe(403);
    expect(again.fields).not.toHaveProperty("set-cookie");
    const next = await program.nextLine();
    expect(new URL(next).origin).toBe(new URL(first).origin);
    expect(await cookieOf(next)).toBe(await cookieOf(await program.nextLine()));
  });
});

describe("the page in a browser", () => {
  const pages = usePages();

  test("reloads with the cookie, without a new address", async () => {
    await using program = await view(inject("recording"));
    const page = await pages.open("about:blank", { settle: false });
    await page.goto(program.line);
    await page.waitForURL((url) => url.pathname === "/");
    await settled(page);
    await page.reload();
    await settled(page);
    await page.goto(program.line);
    await page.waitForURL((url) => url.pathname === "/");
    await settled(page);
    expect(await page.evaluate(() => document.cookie)).toBe("");
  });

  test("is opened through a private file, which is then removed", async () => {
    const folder = await mkdtemp(join(inject("folder"), "browser-"));
    // A fake browser that records its arguments.
    const opened = join(folder, "opened");
    await writeFile(
      join(folder, "xdg-open"),
      `#!/bin/sh\nprintf %s "$*" > ${opened}.new\nmv ${opened}.new ${opened}\n`,
      {
        mode: 0o755,
      },
    );
    const env = { ...process.env, PATH: `${folder}:${process.env.PATH}`, XDG_RUNTIME_DIR: folder };
    await using program = await Running.start(["view", inject("recording")], "http://", env);
    await expect.poll(() => readdir(folder)).toContain("opened");
    const file = await readFile(opened, "utf8");
    expect(file).toMatch(/^\/.*\/page\.html$/);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect((await stat(join(file, ".."))).mode & 0o777).toBe(0o700);
    const page = await pages.open(`file://${file}`, { settle: false });
    await page.waitForURL((url) => url.pathname === "/" && url.protocol === "http:");
    await settled(page);
    await expect.poll(() => readdir(folder)).toEqual(["opened", "xdg-open"]);
    // The printed address is still valid.
    expect(await cookieOf(program.line)).toMatch(/^diligence-/);
  });

  test("leaves no file if it is never opened", async () => {
    const folder = await mkdtemp(join(inject("folder"), "browser-"));
    await writeFile(join(folder, "xdg-open"), `#!/bin/sh\ntouch ${folder}/opened\n`, {
      mode: 0o755,
    });
    const env = { ...process.env, PATH: `${folder}:${process.env.PATH}`, XDG_RUNTIME_DIR: folder };
    {
      await using _program = await Running.start(["view", inject("recording")], "http://", env);
      await expect.poll(() => readdir(folder)).toContain("opened");
      expect((await readdir(folder)).length).toBe(3);
    }
    expect(await readdir(folder)).toEqual(["opened", "xdg-open"]);
  });
});
