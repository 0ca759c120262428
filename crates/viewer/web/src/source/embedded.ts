// The recording that is in this document, and what answers about it: both were put there when the page
// was saved, packed and as text.

import { decode, type Frame, VERSION } from "../format/frame";
import AnalystWorker from "./analyst.worker?worker&inline";
import { answered, type Question, type Source } from "./source";

/** What the worker is asked to do. */
export type Asked = { readonly id: number } & (
  | { readonly act: "start"; readonly program: ArrayBuffer; readonly recording: ArrayBuffer }
  | { readonly act: "next" }
  | { readonly act: "ask"; readonly question: string }
);

/** What it tells: bytes of a frame, if there is one, or what went wrong. */
export interface Told {
  readonly id: number;
  readonly bytes?: Uint8Array | undefined;
  readonly problem?: string;
}

/** What the document says about the recording in it. */
interface About {
  readonly title: string;
  readonly redacted: boolean;
}

/** Whether there is a recording in this document. */
export function isEmbedded(): boolean {
  return document.getElementById("recording") !== null;
}

/** Answers from what is in the document. */
export class EmbeddedSource implements Source {
  private readonly worker = new AnalystWorker();
  private readonly waiting = new Map<number, (told: Told) => void>();
  private readonly started = this.start();
  private lastId = 0;

  async *frames(): AsyncGenerator<Frame> {
    const about = JSON.parse(new TextDecoder().decode(await unpacked("about"))) as About;
    const head = { kind: "hello", version: VERSION, title: about.title, mode: "embedded" };
    yield { kind: "hello", head, columns: new Map() };
    await this.started;
    for (;;) {
      const bytes = await this.send({ act: "next" });
      if (bytes === undefined) break;
      yield decode(bytes);
    }
    yield { kind: "end", head: { kind: "end", why: null }, columns: new Map() };
  }

  async ask(question: Question, _before: number, signal?: AbortSignal): Promise<Frame> {
    await this.started;
    // A question that was taken back before it was asked costs nothing.
    signal?.throwIfAborted();
    const bytes = await this.send({ act: "ask", question: JSON.stringify(question) });
    if (bytes === undefined) throw new Error("there is no answer");
    return answered(decode(bytes));
  }

  private async start(): Promise<void> {
    this.worker.onmessage = ({ data }: MessageEvent<Told>) => {
      this.waiting.get(data.id)?.(data);
      this.waiting.delete(data.id);
    };
    const [program, recording] = await Promise.all([unpacked("analyst"), unpacked("recording")]);
    await this.send({ act: "start", program, recording }, [program, recording]);
  }

  private send(
    asked: Distribute<Asked>,
    moved: Transferable[] = [],
  ): Promise<Uint8Array | undefined> {
    const id = ++this.lastId;
    return new Promise((resolve, reject) => {
      this.waiting.set(id, ({ bytes, problem }) => {
        if (problem === undefined) resolve(bytes);
        else reject(new Error(problem));
      });
      this.worker.postMessage({ ...asked, id }, moved);
    });
  }
}

/** Each of several types without its id. */
type Distribute<T> = T extends unknown ? Omit<T, "id"> : never;

/** What is in an element of the document, as it was before it was packed; the element is gone then. */
async function unpacked(id: string): Promise<ArrayBuffer> {
  const element = document.getElementById(id);
  if (element === null) throw new Error(`the document has no ${id} in it`);
  const text = element.textContent ?? "";
  element.remove();
  const packed = new Blob([fromBase64(text)]);
  const stream = packed.stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).arrayBuffer();
}

function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  const characters = atob(text);
  const bytes = new Uint8Array(characters.length);
  for (let at = 0; at < bytes.length; at++) bytes[at] = characters.charCodeAt(at);
  return bytes;
}
