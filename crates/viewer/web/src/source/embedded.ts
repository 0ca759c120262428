// The recording in this document, and the WebAssembly program that answers questions about it. Both
// were embedded, compressed and encoded as text, when the page was saved.

import { checked } from "../format/check";
import { decode, type Frame } from "../format/frame";
import { type FrameHead, type Question, VERSION } from "../generated/protocol";
import AnalystWorker from "./analyst.worker?worker&inline";
import { type Answered, answered, type Source } from "./source";

/** A request to the worker. Both sides are parts of the same build, so it is not validated. */
export type WorkerRequest = { readonly id: number } & (
  | { readonly act: "start"; readonly program: ArrayBuffer; readonly recording: ArrayBuffer }
  | { readonly act: "next" }
  | { readonly act: "ask"; readonly question: string }
);

/** The reply of the worker: the bytes of a frame, if there is one, or an error. */
export interface WorkerReply {
  readonly id: number;
  readonly bytes?: Uint8Array<ArrayBuffer> | undefined;
  readonly problem?: string;
}

/** True if this document contains a recording. */
export function isEmbedded(): boolean {
  return document.getElementById("recording") !== null;
}

/** Answers questions from the data in the document. */
export class EmbeddedSource implements Source {
  private readonly worker = new AnalystWorker();
  private readonly waiting = new Map<number, (reply: WorkerReply) => void>();
  private readonly started = this.start();
  private lastId = 0;

  async *frames(): AsyncGenerator<Frame> {
    const about: unknown = JSON.parse(new TextDecoder().decode(await unpacked("about")));
    const { title } = checked("About", about);
    yield frameOf({ kind: "hello", version: VERSION, title, mode: "embedded", ...NO_BUS });
    await this.started;
    for (;;) {
      const bytes = await this.send({ act: "next" });
      if (bytes === undefined) break;
      yield decode(bytes);
    }
    yield frameOf({ kind: "end", why: null });
  }

  async ask<Q extends Question>(
    question: Q,
    _before: number,
    signal?: AbortSignal,
  ): Promise<Answered<Q["ask"]>> {
    await this.started;
    // Skip a question that was aborted.
    signal?.throwIfAborted();
    const bytes = await this.send({ act: "ask", question: JSON.stringify(question) });
    if (bytes === undefined) throw new Error("the reply is empty");
    return answered(decode(bytes), question.ask);
  }

  private async start(): Promise<void> {
    this.worker.onmessage = ({ data }: MessageEvent<WorkerReply>) => {
      this.waiting.get(data.id)?.(data);
      this.waiting.delete(data.id);
    };
    const [program, recording] = await Promise.all([unpacked("analyst"), unpacked("recording")]);
    await this.send({ act: "start", program, recording }, [program, recording]);
  }

  private send(
    request: Distribute<WorkerRequest>,
    moved: Transferable[] = [],
  ): Promise<Uint8Array<ArrayBuffer> | undefined> {
    const id = ++this.lastId;
    return new Promise((resolve, reject) => {
      this.waiting.set(id, ({ bytes, problem }) => {
        if (problem === undefined) resolve(bytes);
        else reject(new Error(problem));
      });
      this.worker.postMessage({ ...request, id }, moved);
    });
  }
}

/** Removes the id from each type of a union. */
type Distribute<T> = T extends unknown ? Omit<T, "id"> : never;

/** The decompressed contents of an element of the document. The element is removed. */
async function unpacked(id: string): Promise<ArrayBuffer> {
  const element = document.getElementById(id);
  if (element === null) throw new Error(`the document does not contain ${id}`);
  const text = element.textContent ?? "";
  element.remove();
  const packed = new Blob([fromBase64(text)]);
  const stream = packed.stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).arrayBuffer();
}

function frameOf(head: FrameHead): Frame {
  return { head, columns: new Map() };
}

/** A saved page does not have a bus, and its frames have no program version. */
const NO_BUS = { program: "", objects: false, calls: false };

function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  const characters = atob(text);
  const bytes = new Uint8Array(characters.length);
  for (let at = 0; at < bytes.length; at++) bytes[at] = characters.charCodeAt(at);
  return bytes;
}
