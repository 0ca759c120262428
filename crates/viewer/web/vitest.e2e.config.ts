import { defineConfig } from "vitest/config";

// The program and the page in a real browser. One file after the other: what they measure is time, too.
export default defineConfig({
  test: {
    include: ["tests/**/*.e2e.ts"],
    globalSetup: ["tests/support/record.ts"],
    fileParallelism: false,
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
