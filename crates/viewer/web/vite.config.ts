import type { ProxyOptions } from "vite";
import { defineConfig } from "vitest/config";

// While the page is worked on, what it asks goes to a program that runs already:
// DILIGENCE=http://127.0.0.1:PORT/TOKEN/ npm run dev
const program = process.env.DILIGENCE;

function proxies(): Record<string, ProxyOptions> {
  if (program === undefined) return {};
  const { origin, pathname } = new URL(program);
  const proxy: ProxyOptions = {
    target: origin,
    changeOrigin: true,
    rewrite: (path) => pathname + path.slice(1),
    // The program answers its own page alone.
    configure: (server) => {
      server.on("proxyReq", (request) => request.removeHeader("origin"));
    },
  };
  const paths = ["/stream", "/ask", "/bus", "/watch", "/save"];
  return Object.fromEntries(paths.map((path) => [path, proxy]));
}

// The page is one script and one style sheet, so that it can be put into one file.
export default defineConfig({
  base: "./",
  server: { proxy: proxies() },
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
