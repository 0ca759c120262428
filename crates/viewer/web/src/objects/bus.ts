// Requests to the bus. The program that serves the page carries them out.

import { checked, FormatError } from "../format/check";
import type {
  BusAnswer,
  BusObject,
  BusRequest,
  Call,
  CallAnswer,
  CallCommands,
  CallSettings,
  Json,
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

/** A request failed. The message is a sentence for the user. */
export class BusFailure extends Error {
  /** The number of the invalid argument, from 1, if the failure concerns an argument. */
  readonly argument: number | undefined;

  constructor(sentence: string) {
    super(sentence);
    const [, number] = /^argument (\d+) /.exec(sentence) ?? [];
    this.argument = number === undefined ? undefined : Number(number);
  }
}

/** A subscription to events of the bus. */
export interface BusSubscription {
  /** The events until `signal` is aborted, at first for this scope. */
  lines(watched: Watched, signal: AbortSignal): AsyncIterable<WatchEvent>;
  /** Changes the scope. A `begun` event in the stream marks the change. */
  change(watched: Watched): Promise<void>;
}

/** The type of the answer to each request. */
type BusAnswers = {
  readonly [K in BusRequest["do"]]: Extract<BusAnswer, Readonly<Record<K, unknown>>>[K];
};

/** Sends requests for the bus to the program. */
export class BusClient {
  constructor(readonly types: KnownTypes) {}

  /** Lists all names on the bus. */
  names(): Promise<readonly Name[]> {
    return this.ask({ do: "names" });
  }

  /** Looks up one name; null if it has no owner and cannot be activated. */
  name(name: string): Promise<Name | null> {
    return this.ask({ do: "name", name });
  }

  /** Lists the objects of a service. */
  tree(service: string): Promise<Tree> {
    return this.ask({ do: "tree", service });
  }

  /** Reads the interfaces of an object and the values of its properties. */
  object(service: string, path: string): Promise<BusObject> {
    return this.ask({ do: "object", service, path });
  }

  /** Calls a method of an object. */
  call(call: Call, settings: CallSettings = {}): Promise<CallAnswer> {
    return this.ask({ do: "call", call, manner: settings });
  }

  /** Sets a property of an object. */
  set(property: PropertyName, signature: string, value: Json): Promise<CallAnswer> {
    return this.ask({ do: "set", property, signature, value });
  }

  /** Parses arguments from a GVariant text. */
  read(signature: string, text: string): Promise<ReadText> {
    return this.ask({ do: "read", signature, text });
  }

  /** Writes arguments as a GVariant text. */
  write(signature: string, values: readonly Json[]): Promise<string> {
    return this.ask({ do: "write", signature, arguments: values });
  }

  /** Returns shell commands that make a call. */
  commands(call: Call): Promise<CallCommands> {
    return this.ask({ do: "commands", call });
  }

  /** Parses a signature into types; null if the text is not a signature. */
  async typesOf(signature: string): Promise<readonly ValueType[] | null> {
    const types = await this.ask({ do: "types", signature });
    for (const type of types ?? []) this.types.learn({ [type.signature]: type });
    return types;
  }

  /** Creates a subscription to events of the bus. */
  subscribe(): BusSubscription {
    const name = crypto.randomUUID();
    const url = (watched: Watched): string => `watch/${name}?${watchFields(watched)}`;
    return {
      lines: (watched, signal) => this.linesOf(url(watched), signal),
      change: async (watched) => {
        const response = await fetch(url(watched), { method: "POST" });
        if (!response.ok) throw new BusFailure(await failureOf(response));
      },
    };
  }

  private async *linesOf(url: string, signal: AbortSignal): AsyncGenerator<WatchEvent> {
    const response = await fetch(url, { signal });
    if (!response.ok || response.body === null) throw new BusFailure(await failureOf(response));
    const reader = response.body.getReader();
    const lines = new LineReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      for (const line of lines.push(value)) {
        yield this.unwrap(checked("ReplyWatchEvent", JSON.parse(line)));
      }
    }
  }

  private async ask<R extends BusRequest>(request: R): Promise<BusAnswers[R["do"]]> {
    const sent = fetch("bus", { method: "POST", body: JSON.stringify(request) });
    const response = await sent.catch(() => {
      throw new BusFailure(DISCONNECTED);
    });
    if (!response.ok) throw new BusFailure(await failureOf(response));
    const answers: Partial<BusAnswers> = this.unwrap(
      checked("ReplyBusAnswer", await response.json()),
    );
    const name: R["do"] = request.do;
    const answer = answers[name];
    if (answer === undefined) throw new FormatError(`not an answer to the request ${name}`);
    return answer;
  }

  private unwrap<T>(reply: BusReply<T>): T {
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

/** The reason why a request failed: the response text, if there is one. */
async function failureOf(response: Response): Promise<string> {
  const isText = response.headers.get("content-type")?.startsWith("text/plain") ?? false;
  const words = isText ? await response.text() : "";
  return words || `the program failed to answer: ${response.status} ${response.statusText}`;
}
