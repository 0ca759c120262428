// Requests for the bus, which the program that serves the page carries out.

import { checked, FormatError } from "../format/check";
import type {
  BusAnswer,
  BusObject,
  BusRequest,
  Call,
  CallAnswer,
  CallCommands,
  Json,
  Manner,
  Name,
  PropertyName,
  ReadText,
  Tree,
  TypeTable,
  ValueType,
  WatchEvent,
  Watched,
} from "../generated/protocol";
import { DISCONNECTED } from "../source/source";
import type { KnownTypes } from "../state/types";
import { LineReader } from "./lines";

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

/** A stream of what is heard of a bus. */
export interface Hearing {
  /** What is heard until it is aborted, at first of this. */
  lines(watched: Watched, signal: AbortSignal): AsyncIterable<WatchEvent>;
  /** Has something else heard; the stream tells from where on. */
  turn(watched: Watched): Promise<void>;
}

/** The answers, each under the name of its request. */
type BusAnswers = {
  readonly [K in BusRequest["do"]]: Extract<BusAnswer, Readonly<Record<K, unknown>>>[K];
};

/** Sends requests for the bus to the program. */
export class BusClient {
  constructor(readonly types: KnownTypes) {}

  /** All names. */
  names(): Promise<readonly Name[]> {
    return this.ask({ do: "names" });
  }

  /** One name, or null if it has no owner and cannot be activated. */
  name(name: string): Promise<Name | null> {
    return this.ask({ do: "name", name });
  }

  /** The objects of a service. */
  tree(service: string): Promise<Tree> {
    return this.ask({ do: "tree", service });
  }

  /** The interfaces of an object, with the values of its properties. */
  object(service: string, path: string): Promise<BusObject> {
    return this.ask({ do: "object", service, path });
  }

  /** Calls a method. */
  call(call: Call, manner: Manner = {}): Promise<CallAnswer> {
    return this.ask({ do: "call", call, manner });
  }

  /** Sets a property. */
  set(property: PropertyName, signature: string, value: Json): Promise<CallAnswer> {
    return this.ask({ do: "set", property, signature, value });
  }

  /** Reads arguments from a GVariant text. */
  read(signature: string, text: string): Promise<ReadText> {
    return this.ask({ do: "read", signature, text });
  }

  /** Writes arguments as a GVariant text. */
  write(signature: string, values: readonly Json[]): Promise<string> {
    return this.ask({ do: "write", signature, arguments: values });
  }

  /** Commands that make a call. */
  commands(call: Call): Promise<CallCommands> {
    return this.ask({ do: "commands", call });
  }

  /** The types of a signature, or null for any other text. */
  async typesOf(signature: string): Promise<readonly ValueType[] | null> {
    const types = await this.ask({ do: "types", signature });
    for (const type of types ?? []) this.types.learn({ [type.signature]: type });
    return types;
  }

  /** Watches the bus. */
  hearing(): Hearing {
    const name = crypto.randomUUID();
    const at = (watched: Watched): string => `watch/${name}?${watchFields(watched)}`;
    return {
      lines: (watched, signal) => this.linesOf(at(watched), signal),
      turn: async (watched) => {
        const response = await fetch(at(watched), { method: "POST" });
        if (!response.ok) throw new BusFailure(await unanswered(response));
      },
    };
  }

  private async *linesOf(url: string, signal: AbortSignal): AsyncGenerator<WatchEvent> {
    const response = await fetch(url, { signal });
    if (!response.ok || response.body === null) throw new BusFailure(await unanswered(response));
    const reader = response.body.getReader();
    const lines = new LineReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      for (const line of lines.push(value)) {
        yield this.taken(checked("ReplyWatchEvent", JSON.parse(line)));
      }
    }
  }

  private async ask<R extends BusRequest>(asked: R): Promise<BusAnswers[R["do"]]> {
    const request = fetch("bus", { method: "POST", body: JSON.stringify(asked) });
    const response = await request.catch(() => {
      throw new BusFailure(DISCONNECTED);
    });
    if (!response.ok) throw new BusFailure(await unanswered(response));
    const answers: Partial<BusAnswers> = this.taken(
      checked("ReplyBusAnswer", await response.json()),
    );
    const name: R["do"] = asked.do;
    const answer = answers[name];
    if (answer === undefined) throw new FormatError(`not an answer to the request ${name}`);
    return answer;
  }

  private taken<T>(reply: BusReply<T>): T {
    if ("failure" in reply) throw new BusFailure(reply.failure);
    this.types.learn(reply.types);
    return reply.answer;
  }
}

type BusReply<T> = { readonly answer: T; readonly types: TypeTable } | { readonly failure: string };

function watchFields({ service, path }: Watched): URLSearchParams {
  const fields = new URLSearchParams();
  if (service !== null) fields.set("service", service);
  if (path !== null) fields.set("path", path);
  return fields;
}

/** Why there is no answer: in the words of the program, if it has any. */
async function unanswered(response: Response): Promise<string> {
  const isText = response.headers.get("content-type")?.startsWith("text/plain") ?? false;
  const words = isText ? await response.text() : "";
  return words || `the program does not answer: ${response.status} ${response.statusText}`;
}
