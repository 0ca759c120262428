// The recording of the demonstration that all tests share.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { demo, run } from "./program";

declare module "vitest" {
  interface ProvidedContext {
    /** A folder for files that tests write. */
    folder: string;
    /** A recording of a few seconds of the demonstration, made by the bus itself. */
    recording: string;
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), "diligence-page-"));
  const recording = join(folder, "demo.pcapng");
  const { bus, address } = await demo();
  try {
    const words = ["--address", address, "--introspect", "--max-time", "5s"];
    await run("record", ...words, "--output", recording);
  } finally {
    await bus[Symbol.asyncDispose]();
  }
  project.provide("folder", folder);
  project.provide("recording", recording);
  return () => rm(folder, { recursive: true });
}
