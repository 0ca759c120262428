// What is looked at on a bus. It stays while other views of the page are shown.

import { batch, signal } from "@preact/signals";
import { askNames, askObject, askTree, callMethod, watchSignals } from "./bus";
import { Draft, type PastCall } from "./calling";
import { type Changes, changesOf, withChanges } from "./changes";
import { fieldOf } from "./form";
import { Latest, sentenceOf } from "./loaded";
import { isRunning } from "./names";
import { firstPath } from "./objectTree";
import type { Answer, Call, Heard, Method, Name, ObjectFound, Tree } from "./protocol";
import { SignalLog } from "./signalLog";
import { readTypes, signatureOf } from "./types";

/** What is shown of an object. */
export type Tab = "members" | "signals" | "calls";

/** An object on the bus. */
export interface Place {
  readonly service: string;
  readonly path: string;
}

/** The state of the view. */
export class Session {
  readonly names = new Latest<readonly Name[]>();
  readonly nameFilter = signal("");
  readonly service = signal<string | undefined>(undefined);
  readonly tree = new Latest<Tree>();
  readonly treeFilter = signal("");
  readonly folded = signal<ReadonlySet<string>>(new Set());
  /** The line of the tree that keys act on. */
  readonly cursor = signal<string | undefined>(undefined);
  readonly place = signal<Place | undefined>(undefined);
  readonly object = new Latest<ObjectFound>();
  readonly tab = signal<Tab>("members");
  /** The method whose form is open, as {@link memberKey} has it. */
  readonly open = signal<string | undefined>(undefined);
  readonly log = new SignalLog();
  readonly watchProblem = signal<string | undefined>(undefined);
  /** How often each property has changed since the object is looked at. */
  readonly changes = signal<ReadonlyMap<string, number>>(new Map());
  /** Calls of this session, the newest first. */
  readonly history = signal<readonly PastCall[]>([]);

  private readonly drafts = new Map<string, Draft>();
  private refreshing: ReturnType<typeof setTimeout> | undefined;
  private calls = 0;

  /** Learns the names again. */
  async refreshNames(): Promise<void> {
    await this.names.load(askNames());
  }

  /** Shows the objects of a service, unless it would have to be started. */
  async chooseService(name: Name): Promise<void> {
    batch(() => {
      this.service.value = name.name;
      this.tree.clear();
      this.treeFilter.value = "";
      this.folded.value = new Set();
      this.choosePlace(undefined);
    });
    if (isRunning(name)) await this.refreshTree();
  }

  /** Learns the objects of the service again. */
  async refreshTree(): Promise<void> {
    const service = this.service.peek();
    if (service === undefined) return;
    const tree = await this.tree.load(askTree(service));
    const path = tree === undefined ? undefined : firstPath(tree.nodes);
    if (path !== undefined && this.place.peek() === undefined) this.choosePlace({ service, path });
  }

  /** Shows an object. */
  choosePlace(place: Place | undefined): void {
    const old = this.place.peek();
    if (old?.service === place?.service && old?.path === place?.path) return;
    batch(() => {
      this.place.value = place;
      this.cursor.value = place?.path;
      this.object.clear();
      this.log.clear();
      this.open.value = undefined;
      this.watchProblem.value = undefined;
      this.changes.value = new Map();
    });
    void this.refreshObject();
  }

  /** Learns again what the object has. */
  async refreshObject(): Promise<void> {
    const place = this.place.peek();
    if (place !== undefined) await this.object.load(askObject(place.service, place.path));
  }

  /** Hears the signals of an object until it is aborted. */
  async listen({ service, path }: Place, abort: AbortSignal): Promise<void> {
    const gathered: Heard[] = [];
    const take = (): void => {
      const heard = gathered.splice(0);
      if (!abort.aborted) this.takeHeard(heard);
    };
    try {
      for await (const heard of watchSignals(service, path, abort)) {
        if (gathered.push(heard) === 1) setTimeout(take, GATHER_MS);
      }
    } catch (error) {
      if (!abort.aborted) this.watchProblem.value = sentenceOf(error);
    }
  }

  /** The form of a method, with what was typed there last. */
  draftOf(place: Place, of: string, method: Method): Draft {
    const target = { ...place, interface: of, method: method.name };
    const signature = method.arguments.map(({ type }) => type).join("");
    const key = [place.service, place.path, of, method.name, signature].join(" ");
    const draft = this.drafts.get(key) ?? new Draft(target, method);
    this.drafts.set(key, draft);
    return draft;
  }

  /** Remembers a call that was made. */
  remember(call: Call, answer: Answer, durations: readonly number[]): void {
    const past = { number: ++this.calls, at: Date.now(), call, answer, durations };
    this.history.value = [past, ...this.history.peek()].slice(0, HISTORY_MAX);
  }

  /** Opens the form of a call that was made, with its arguments. */
  reopen({ call }: PastCall): void {
    const { service, path } = call;
    const types = readTypes(call.signature) ?? [];
    const parts = types.map((type, at) => fieldOf(type, call.arguments[at] ?? null));
    const given = types.map((_, at) => ({ type: typeAt(call.signature, at) }));
    const method = { name: call.method, arguments: given, results: [], annotations: [] };
    batch(() => {
      const name = this.names.state.peek().value?.find((one) => one.name === service);
      if (this.service.peek() !== service && name !== undefined) void this.chooseService(name);
      this.choosePlace({ service, path });
      this.tab.value = "members";
      this.open.value = memberKey(call.interface, call.method);
      this.draftOf({ service, path }, call.interface, method).fields.value = parts;
    });
  }

  /** Starts a service that does not run, and shows its objects. */
  async start(name: string): Promise<string | undefined> {
    try {
      const answer = await callMethod({ ...STARTER, arguments: [name, 0] });
      if ("failed" in answer) return answer.failed.sentence;
      await this.refreshNames();
      await this.refreshTree();
      return undefined;
    } catch (error) {
      return sentenceOf(error);
    }
  }

  /** Shows what has come in the last moment. */
  private takeHeard(heard: readonly Heard[]): void {
    batch(() => {
      this.log.add(heard);
      for (const one of heard) {
        const changes = "signal" in one ? changesOf(one.signal) : undefined;
        if (changes !== undefined) this.change(changes);
      }
    });
  }

  private change(changes: Changes): void {
    this.object.change((object) => withChanges(object, changes));
    const counts = new Map(this.changes.peek());
    for (const name of changes.values.keys()) {
      const key = memberKey(changes.interface, name);
      counts.set(key, (counts.get(key) ?? 0) + 1);
    }
    this.changes.value = counts;
    if (changes.invalidated.length > 0) this.refreshSoon();
  }

  /** Some values are no longer so; many are told of at once. */
  private refreshSoon(): void {
    clearTimeout(this.refreshing);
    this.refreshing = setTimeout(() => void this.refreshObject(), REFRESH_MS);
  }
}

/** A member of an interface in one text. */
export function memberKey(of: string, member: string): string {
  return `${of} ${member}`;
}

function typeAt(signature: string, place: number): string {
  const type = readTypes(signature)?.[place];
  return type === undefined ? "" : signatureOf(type);
}

const STARTER = {
  service: "org.freedesktop.DBus",
  path: "/org/freedesktop/DBus",
  interface: "org.freedesktop.DBus",
  method: "StartServiceByName",
  signature: "su",
};

/** Signals that come within this time are shown together. */
const GATHER_MS = 50;
/** So long after the last change that does not tell its value the values are asked for. */
const REFRESH_MS = 250;
/** Older calls are forgotten. */
const HISTORY_MAX = 200;
