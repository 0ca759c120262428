// Runs the analyst as WebAssembly in a worker.

import type { WorkerReply, WorkerRequest } from "./embedded";

/** The functions of `crates/analyst/src/exports.rs`. */
interface Exports {
  readonly memory: WebAssembly.Memory;
  reserve(length: number): number;
  output(): number;
  open(): number;
  next(): number;
  ask(): number;
}

let analyst: Exports | undefined;

addEventListener("message", async ({ data }: MessageEvent<WorkerRequest>) => {
  const { id } = data;
  try {
    const bytes = await act(data);
    reply({ id, bytes }, bytes === undefined ? [] : [bytes.buffer]);
  } catch (error) {
    reply({ id, problem: error instanceof Error ? error.message : String(error) }, []);
  }
});

function reply(reply: WorkerReply, moved: Transferable[]): void {
  postMessage(reply, { transfer: moved });
}

async function act(request: WorkerRequest): Promise<Uint8Array<ArrayBuffer> | undefined> {
  if (request.act === "start") {
    const { instance } = await WebAssembly.instantiate(request.program);
    // TypeScript does not know the types of WebAssembly exports. The program is a part of this
    // document.
    analyst = instance.exports as unknown as Exports;
    put(analyst, new Uint8Array(request.recording));
    const length = analyst.open();
    if (length > 0) throw new Error(new TextDecoder().decode(take(analyst, length)));
    return undefined;
  }
  if (analyst === undefined) throw new Error("the recording is not loaded yet");
  if (request.act === "next") {
    const length = analyst.next();
    return length === 0 ? undefined : take(analyst, length);
  }
  put(analyst, new TextEncoder().encode(request.question));
  return take(analyst, analyst.ask());
}

function put({ memory, reserve }: Exports, bytes: Uint8Array): void {
  const at = reserve(bytes.length);
  new Uint8Array(memory.buffer).set(bytes, at);
}

/** A copy of the output, which the next call overwrites. */
function take({ memory, output }: Exports, length: number): Uint8Array<ArrayBuffer> {
  const at = output();
  return new Uint8Array(memory.buffer).slice(at, at + length);
}
