// Asking a bus by way of the program that serves the page.

import { DISCONNECTED } from "../source/source";
import { LineReader } from "./lines";
import type {
  Answer,
  Call,
  Json,
  Manner,
  Name,
  ObjectFound,
  PropertyName,
  Tree,
  Typed,
  Watched,
  WatchLine,
  Wish,
} from "./protocol";

/** Why nothing was sent, or nothing learnt. */
export class BusFailure extends Error {
  /** The argument that is wrong, from 1. */
  readonly argument: number | undefined;

  constructor(sentence: string) {
    super(sentence);
    const [, number] = /^argument (\d+) /.exec(sentence) ?? [];
    this.argument = number === undefined ? undefined : Number(number);
  }
}

/** All names. */
export function askNames(): Promise<readonly Name[]> {
  return ask<readonly Name[]>({ do: "names" });
}

/** One name, or null if nobody has it and it cannot be started. */
export function askName(name: string): Promise<Name | null> {
  return ask<Name | null>({ do: "name", name });
}

/** The objects of a service. */
export function askTree(service: string): Promise<Tree> {
  return ask<Tree>({ do: "tree", service });
}

/** What an object has, with the values of its properties. */
export function askObject(service: string, path: string): Promise<ObjectFound> {
  return ask<ObjectFound>({ do: "object", service, path });
}

/** Calls a method. */
export function callMethod(call: Call, manner: Manner = {}): Promise<Answer> {
  return ask<Answer>({ do: "call", call, manner });
}

/** Reads arguments that are typed as one text of GVariant. Nothing is sent. */
export function askTyped(signature: string, text: string): Promise<Typed> {
  return ask<Typed>({ do: "read", signature, text });
}

/** Sets a property. */
export function setProperty(
  property: PropertyName,
  signature: string,
  value: Json,
): Promise<Answer> {
  return ask<Answer>({ do: "set", property, signature, value });
}

/** A stream of what is heard of a bus. */
export interface Hearing {
  /** What is heard until it is aborted, at first of this. */
  lines(watched: Watched, signal: AbortSignal): AsyncIterable<WatchLine>;
  /** Has something else heard; the stream tells from where on. */
  turn(watched: Watched): Promise<void>;
}

/** Hears the bus by the program. */
export function hearing(): Hearing {
  const name = crypto.randomUUID();
  const at = (watched: Watched): string => `watch/${name}?${watchFields(watched)}`;
  return {
    lines: (watched, signal) => linesOf(at(watched), signal),
    turn: async (watched) => {
      const response = await fetch(at(watched), { method: "POST" });
      if (!response.ok) throw new BusFailure(await unanswered(response));
    },
  };
}

function watchFields({ service, path }: Watched): URLSearchParams {
  const fields = new URLSearchParams();
  if (service !== undefined) fields.set("service", service);
  if (path !== undefined) fields.set("path", path);
  return fields;
}

async function* linesOf(url: string, signal: AbortSignal): AsyncGenerator<WatchLine> {
  const response = await fetch(url, { signal });
  if (!response.ok || response.body === null) throw new BusFailure(await unanswered(response));
  const reader = response.body.getReader();
  const lines = new LineReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    for (const line of lines.push(value)) yield told<WatchLine>(JSON.parse(line));
  }
}

async function ask<T>(wish: Wish): Promise<T> {
  const request = fetch("bus", { method: "POST", body: JSON.stringify(wish) });
  const response = await request.catch(() => {
    throw new BusFailure(DISCONNECTED);
  });
  if (!response.ok) throw new BusFailure(await unanswered(response));
  return told<T>(await response.json());
}

type Told<T> = { readonly answer: T } | { readonly failure: string };

function told<T>(told: Told<T>): T {
  if ("failure" in told) throw new BusFailure(told.failure);
  return told.answer;
}

/** Why there is no answer: in the words of the program, if it has any. */
async function unanswered(response: Response): Promise<string> {
  const isText = response.headers.get("content-type")?.startsWith("text/plain") ?? false;
  const words = isText ? await response.text() : "";
  return words || `the program does not answer: ${response.status} ${response.statusText}`;
}
