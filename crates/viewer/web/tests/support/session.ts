// A recording of a session with many connections: permanent services, and programs that connect,
// call one of them and disconnect.

import { run } from "./program";

/** The number of services in the session, of calls by `dbus-send`, and of connections of both. */
export const SERVICES = 30;
export const CALLS = 100;

/**
 * The durations in milliseconds that callers wait for a slow reply, and for one that never arrives.
 */
export const SLOW_MS = 300;
export const GIVEN_UP_MS = 400;

/** Records the session, which takes a few seconds. */
export async function recordSession(file: string): Promise<void> {
  await run("run", "--record", file, "sh", "-c", SCRIPT);
}

const SCRIPT = `
serve() { dbus-test-tool "$@" --session & pids="$pids $!"; }
ask() { dbus-send --session --print-reply "$@" > /dev/null; }
owned() { until ask --dest=org.freedesktop.DBus / org.freedesktop.DBus.GetNameOwner string:"$1" 2> /dev/null; do sleep 0.1; done; }
for n in $(seq ${SERVICES}); do serve echo --name=org.example.Service$n; done
serve echo --name=org.example.Slow --sleep-ms=${SLOW_MS}
serve black-hole --name=org.example.Never
for n in $(seq ${SERVICES}); do owned org.example.Service$n; done
owned org.example.Slow
owned org.example.Never
for n in $(seq ${CALLS}); do ask --dest=org.example.Service$((n % ${SERVICES} + 1)) / org.example.Work.Do$n; done
ask --dest=org.example.Slow / org.example.Work.Slow
ask --dest=org.example.Never --reply-timeout=${GIVEN_UP_MS} / org.example.Work.Never
for n in $(seq ${CALLS}); do ask --dest=org.example.Service$((n % 3 + 1)) / org.example.Work.Again; done
kill $pids
`;
