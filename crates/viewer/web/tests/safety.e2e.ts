// Who may ask the program, and that nothing that was recorded becomes a part of the page.

import { request } from "node:http";
import { describe, expect, inject, test } from "vitest";
import { view } from "./support/program";

interface Asked {
  readonly path?: (token: string) => string;
  readonly headers?: Record<string, string>;
}

/** The status and the headers with which a request is answered. */
function ask(url: string, { path, headers }: Asked): Promise<{ status: number; fields: unknown }> {
  const { hostname, port, pathname } = new URL(url);
  const token = pathname.replaceAll("/", "");
  return new Promise((resolve, reject) => {
    const options = { hostname, port, path: path?.(token) ?? pathname, headers: headers ?? {} };
    request(options, (response) => {
      response.resume();
      resolve({ status: response.statusCode ?? 0, fields: response.headers });
    })
      .on("error", reject)
      .end();
  });
}

describe("only the page itself is answered", () => {
  test.each<[string, Asked, number]>([
    ["its address", {}, 200],
    ["no token", { path: () => "/" }, 404],
    ["another token", { path: (token) => `/${token.replace(/./, "x")}/` }, 404],
    ["the beginning of the token", { path: (token) => `/${token.slice(0, -1)}/` }, 404],
    ["a file beside the page", { path: (token) => `/${token}/../../etc/passwd` }, 404],
    ["a name that points here", { headers: { host: "evil.example" } }, 421],
    ["another port", { headers: { host: "127.0.0.1:1" } }, 421],
    ["a page of somebody else's", { headers: { origin: "http://evil.example" } }, 403],
    ["a page without an origin", { headers: { origin: "null" } }, 403],
  ])("%s", async (_, asked, status) => {
    await using program = await view(inject("recording"));
    expect((await ask(program.line, asked)).status).toBe(status);
  });

  test("answers say that they are for nobody else", async () => {
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
});
