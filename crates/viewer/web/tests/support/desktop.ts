// Recordings of real programs in a session and a system, made once for all tests that need them.

import { execFile } from "node:child_process";
import { access, mkdir, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { setTimeout } from "node:timers/promises";
import { promisify } from "node:util";
import { inject } from "vitest";
import { PROGRAM } from "./program";

/** The files that the script records. */
type DesktopFile =
  | "session.pcapng"
  | "system.pcapng"
  | "dbus-daemon.pcap"
  | "dbus-daemon.pcapng"
  | "dbus-broker.pcapng";

/**
 * A recording by `scripts/record-desktop`. The first test that needs it runs the script, and tests
 * in other processes wait for it. DILIGENCE_DESKTOP names a folder that already contains the
 * recordings.
 */
export async function desktopRecording(file: DesktopFile = "session.pcapng"): Promise<string> {
  const folder = process.env.DILIGENCE_DESKTOP ?? join(inject("folder"), "desktop");
  if (process.env.DILIGENCE_DESKTOP === undefined) await recorded(folder);
  return join(folder, file);
}

/** The session after its programs were updated: `record-desktop --updated`. */
export async function updatedRecording(): Promise<string> {
  const folder = join(process.env.DILIGENCE_DESKTOP ?? inject("folder"), "desktop-updated");
  await recorded(folder, "--updated");
  return join(folder, "session.pcapng");
}

async function recorded(folder: string, ...options: string[]): Promise<void> {
  const complete = join(folder, "complete");
  if (await isFirst(folder)) {
    await promisify(execFile)(SCRIPT, ["--short", ...options, PROGRAM, folder]);
    await writeFile(complete, "");
  }
  const deadline = Date.now() + SCRIPT_MILLISECONDS;
  while (!(await exists(complete))) {
    if (Date.now() > deadline) throw new Error(`${SCRIPT} has not ended in time`);
    await setTimeout(100);
  }
}

/** True for the first caller that needs the folder. */
async function isFirst(folder: string): Promise<boolean> {
  try {
    await mkdir(folder);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

async function exists(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  );
}

const SCRIPT = resolve(import.meta.dirname, "../../../../../scripts/record-desktop");

/** The time limit for the script on a busy machine. */
const SCRIPT_MILLISECONDS = 180_000;
