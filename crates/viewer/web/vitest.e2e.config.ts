import { defineConfig } from "vitest/config";

// Tests of the program and the page in a real browser. Files run one after another, because some
// tests measure time.
export default defineConfig({
  test: {
    include: ["tests/**/*.e2e.ts"],
    globalSetup: ["tests/support/record.ts"],
    fileParallelism: false,
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
