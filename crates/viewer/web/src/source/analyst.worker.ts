// The analysis as WebAssembly, in a thread of its own.

import type { Asked, Told } from "./embedded";

/** What `crates/analyst/src/exports.rs` has. */
interface Exports {
  readonly memory: WebAssembly.Memory;
  reserve(length: number): number;
  output(): number;
  open(): number;
  next(): number;
  ask(): number;
}

let analyst: Exports | undefined;

addEventListener("message", async ({ data }: MessageEvent<Asked>) => {
  const { id } = data;
  try {
    const bytes = await act(data);
    tell({ id, bytes }, bytes === undefined ? [] : [bytes.buffer as ArrayBuffer]);
  } catch (error) {
    tell({ id, problem: error instanceof Error ? error.message : String(error) }, []);
  }
});

function tell(told: Told, moved: Transferable[]): void {
  postMessage(told, { transfer: moved });
}

async function act(asked: Asked): Promise<Uint8Array | undefined> {
  if (asked.act === "start") {
    const { instance } = await WebAssembly.instantiate(asked.program);
    analyst = instance.exports as unknown as Exports;
    put(analyst, new Uint8Array(asked.recording));
    const length = analyst.open();
    if (length > 0) throw new Error(new TextDecoder().decode(take(analyst, length)));
    return undefined;
  }
  if (analyst === undefined) throw new Error("there is no recording yet");
  if (asked.act === "next") {
    const length = analyst.next();
    return length === 0 ? undefined : take(analyst, length);
  }
  put(analyst, new TextEncoder().encode(asked.question));
  return take(analyst, analyst.ask());
}

function put({ memory, reserve }: Exports, bytes: Uint8Array): void {
  const at = reserve(bytes.length);
  new Uint8Array(memory.buffer).set(bytes, at);
}

/** A copy of what came out, which is overwritten by what comes next. */
function take({ memory, output }: Exports, length: number): Uint8Array {
  const at = output();
  return new Uint8Array(memory.buffer).slice(at, at + length);
}
