import type { ProxyOptions } from "vite";
import { defineConfig } from "vitest/config";

// During development, requests of the page are forwarded to a running program. DILIGENCE contains
// an address that it printed and that has not been used yet:
// DILIGENCE=http://127.0.0.1:PORT/open/CODE npm run dev
const address = process.env.DILIGENCE;

async function proxies(): Promise<Record<string, ProxyOptions>> {
  if (address === undefined) return {};
  const response = await fetch(address);
  const [cookie] = response.headers.getSetCookie();
  if (cookie === undefined) throw new Error(`${address} has been used already`);
  const proxy: ProxyOptions = {
    target: new URL(address).origin,
    changeOrigin: true,
    headers: { cookie: cookie.split(";")[0] ?? "" },
    // The program only accepts requests from its own page.
    configure: (server) => {
      server.on("proxyReq", (request) => {
        request.removeHeader("origin");
        request.removeHeader("sec-fetch-site");
      });
    },
  };
  const paths = ["/stream", "/ask", "/bus", "/watch", "/save"];
  return Object.fromEntries(paths.map((path) => [path, proxy]));
}

// The page is built into one script and one style sheet, so that a single file can contain it.
export default defineConfig({
  base: "./",
  server: { proxy: await proxies() },
  build: {
    target: "es2022",
    modulePreload: false,
    cssCodeSplit: false,
    assetsInlineLimit: Number.POSITIVE_INFINITY,
    rollupOptions: {
      output: {
        entryFileNames: "page.js",
        assetFileNames: "page[extname]",
        codeSplitting: false,
      },
    },
  },
  test: { include: ["src/**/*.test.ts", "src/**/*.test.tsx"] },
});
