// Asking a bus by way of the program that serves the page.

import { LineReader } from "./lines";
import type {
  Answer,
  Call,
  Heard,
  Json,
  Manner,
  Name,
  ObjectFound,
  PropertyName,
  Tree,
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

/** Sets a property. */
export function setProperty(
  property: PropertyName,
  signature: string,
  value: Json,
): Promise<Answer> {
  return ask<Answer>({ do: "set", property, signature, value });
}

/** The signals of an object, from now on until it is aborted. */
export async function* watchSignals(
  service: string,
  path: string,
  signal: AbortSignal,
): AsyncGenerator<Heard> {
  const fields = new URLSearchParams({ service, path });
  const response = await fetch(`watch?${fields}`, { signal });
  if (!response.ok || response.body === null) throw new BusFailure(unanswered(response));
  const reader = response.body.getReader();
  const lines = new LineReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    for (const line of lines.push(value)) yield told<Heard>(JSON.parse(line));
  }
}

async function ask<T>(wish: Wish): Promise<T> {
  const response = await fetch("bus", { method: "POST", body: JSON.stringify(wish) });
  if (!response.ok) throw new BusFailure(unanswered(response));
  return told<T>(await response.json());
}

type Told<T> = { readonly answer: T } | { readonly failure: string };

function told<T>(told: Told<T>): T {
  if ("failure" in told) throw new BusFailure(told.failure);
  return told.answer;
}

function unanswered(response: Response): string {
  return `the program does not answer: ${response.status} ${response.statusText}`;
}
