// What is looked at on a bus. It stays while other views of the page are shown.

import { batch, computed, effect, signal } from "@preact/signals";
import type {
  BusObject,
  CallAnswer,
  Heard,
  Method,
  Name,
  Tree,
  Watched,
} from "../generated/protocol";
import type { BusClient } from "./bus";
import { type Listener, type OneHeard, Watching } from "./busWatch";
import { CallDraft, type FullCall, type PastCall } from "./callDraft";
import { type Changes, changesOf, withChanges } from "./changes";
import { Latest, sentenceOf } from "./latest";
import { isRunning, type OwnerChange, ownerChangeOf, withOwner, withTold } from "./names";
import { firstPath } from "./objectTree";
import { SignalLog } from "./signalLog";
import { type TreeChange, treeChangeOf, withTreeChanges } from "./treeChanges";

/** What is shown of an object. */
export type ObjectTab = "members" | "signals" | "calls";

/** An object on the bus. */
export interface ObjectPlace {
  readonly service: string;
  readonly path: string;
}

/** A member whose form is open: a method to be called, or a property to be set. */
export interface OpenMember {
  readonly is: "method" | "property";
  readonly interface: string;
  readonly name: string;
}

/** The state of the view. */
export class Session implements Listener {
  readonly names = new Latest<readonly Name[]>();
  readonly nameFilter = signal("");
  readonly service = signal<string | undefined>(undefined);
  readonly tree = new Latest<Tree>();
  readonly treeFilter = signal("");
  readonly folded = signal<ReadonlySet<string>>(new Set());
  /** The line of the tree that keys act on. */
  readonly cursor = signal<string | undefined>(undefined);
  readonly place = signal<ObjectPlace | undefined>(undefined);
  readonly object = new Latest<BusObject>();
  readonly tab = signal<ObjectTab>("members");
  readonly open = signal<OpenMember | undefined>(undefined);
  readonly log = new SignalLog();
  readonly watchProblem = signal<string | undefined>(undefined);
  /** How often each property has changed since the object is looked at. */
  readonly changes = signal<ReadonlyMap<string, number>>(new Map());
  /** Calls of this session, the newest first. */
  readonly history = signal<readonly PastCall[]>([]);

  private readonly watched = computed<Watched>(() => {
    return { service: this.service.value ?? null, path: this.place.value?.path ?? null };
  });
  constructor(readonly client: BusClient) {}

  /** What was asked for; undefined while nothing is heard. */
  private asked: Watched | undefined;
  private readonly drafts = new Map<string, CallDraft>();
  private readonly soon = new Set<string>();
  /** Connections of which only the name is known. */
  private readonly newcomers = new Set<string>();
  private calls = 0;

  /** Is told by the bus, and asks it, from now on; gives what ends that. */
  follow(): () => void {
    this.asked = undefined;
    void this.client.typesOf(VARIANT_TYPES.join("")).catch(() => null);
    const watching = new Watching(this.client.hearing(), this.watched.peek(), this);
    const end = effect(() => watching.turnTo(this.watched.value));
    return () => {
      end();
      watching.end();
    };
  }

  /** Asks for all that is looked at and was not asked for since it is heard. */
  begun(watched: Watched): void {
    const { asked } = this;
    this.asked = watched;
    const isOther = asked?.service !== watched.service;
    if (asked === undefined) void this.refreshNames().then(() => this.refreshTree());
    else if (isOther) void this.refreshTree();
    if (isOther || asked?.path !== watched.path) void this.refreshObject();
  }

  /** Shows what has come in the last moment. */
  heard(heard: readonly OneHeard[]): void {
    const by = (kind: OneHeard["of"]): Heard[] =>
      heard.filter(({ of }) => of === kind).map(({ what }) => what);
    batch(() => {
      this.takeNames(by("names"));
      this.takeObjects(by("objects"));
      this.takeSignals(by("object"));
    });
  }

  unheard(why: string): void {
    this.watchProblem.value = why;
  }

  /** Learns the names again. */
  async refreshNames(): Promise<void> {
    await this.names.load(this.client.names());
  }

  /** Shows the objects of a service, unless it would have to be started. */
  chooseService(name: string): void {
    if (this.service.peek() !== name) this.show(name, undefined);
  }

  /** Shows a service and one of its objects; of none the first one. */
  show(service: string | undefined, place: ObjectPlace | undefined): void {
    batch(() => {
      if (this.service.peek() !== service) {
        this.service.value = service;
        this.tree.clear();
        this.treeFilter.value = "";
        this.folded.value = new Set();
      }
      this.choosePlace(place);
    });
  }

  /** Learns the objects of the service again, if it runs: looking starts nothing. */
  async refreshTree(): Promise<void> {
    const service = this.service.peek();
    if (service === undefined || !this.runs(service)) return;
    const tree = await this.tree.load(this.client.tree(service));
    const path = tree === undefined ? undefined : firstPath(tree.nodes);
    if (path !== undefined && this.place.peek() === undefined) this.choosePlace({ service, path });
  }

  /** Shows an object. */
  choosePlace(place: ObjectPlace | undefined): void {
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
  }

  /** Learns again what the object has. */
  async refreshObject(): Promise<void> {
    const place = this.place.peek();
    if (place !== undefined) await this.object.load(this.client.object(place.service, place.path));
  }

  /** The form of a method, with what was typed there last. */
  draftOf(place: ObjectPlace, of: string, method: Method): CallDraft {
    const target = { ...place, interface: of, method: method.name };
    const signature = method.arguments.map(({ type }) => type).join("");
    const key = [place.service, place.path, of, method.name, signature].join(" ");
    const draft = this.drafts.get(key) ?? new CallDraft(target, method, this.client);
    this.drafts.set(key, draft);
    return draft;
  }

  /** Remembers a call that was made. */
  remember(
    { takes }: CallDraft,
    call: FullCall,
    answer: CallAnswer,
    durations: readonly number[],
  ): void {
    const past = { number: ++this.calls, at: Date.now(), call, takes, answer, durations };
    this.history.value = [past, ...this.history.peek()].slice(0, HISTORY_MAX);
  }

  /** Opens the form of a call that was made, with its arguments. */
  reopen({ call, takes }: PastCall): void {
    const { service, path } = call;
    const method = { name: call.method, arguments: takes, results: [], annotations: [] };
    batch(() => {
      this.show(service, { service, path });
      this.tab.value = "members";
      this.open.value = { is: "method", interface: call.interface, name: call.method };
      this.draftOf({ service, path }, call.interface, method).setFields(call.arguments);
    });
  }

  /** Starts a service that does not run, and shows its objects. */
  async start(name: string): Promise<string | undefined> {
    try {
      const answer = await this.client.call({ ...STARTER, arguments: [name, 0] });
      return answer.failed?.sentence;
    } catch (error) {
      return sentenceOf(error);
    }
  }

  private takeNames(heard: readonly Heard[]): void {
    for (const one of heard) {
      if ("lost" in one || one.signal.member === "ActivatableServicesChanged") {
        this.doSoon("names", () => this.refreshNames());
        continue;
      }
      const change = ownerChangeOf(one.signal);
      if (change !== undefined) this.changeOwner(change);
    }
  }

  private changeOwner(change: OwnerChange): void {
    const { name, owner } = change;
    this.names.change((names) => withOwner(names, change));
    if (name === owner) {
      this.newcomers.add(name);
      this.doSoon("newcomers", () => this.learnNewcomers());
    }
    if (name !== this.service.peek()) return;
    // Who has the name now may have other objects; without an owner there are none.
    if (owner !== undefined) this.doSoon("service", () => this.refreshService());
    else this.forgetService();
  }

  /** Learns who has connected and is still there: most of those that only ask something are not. */
  private async learnNewcomers(): Promise<void> {
    const names = [...this.newcomers].filter((name) => this.runs(name));
    this.newcomers.clear();
    if (names.length > LEARNT_MAX) await this.refreshNames();
    else await Promise.all(names.map((name) => this.learn(name)));
  }

  private async learn(name: string): Promise<void> {
    const told = await this.client.name(name).catch(() => null);
    if (told !== null) this.names.change((names) => withTold(names, told));
  }

  private async refreshService(): Promise<void> {
    await Promise.all([this.refreshTree(), this.refreshObject()]);
  }

  private forgetService(): void {
    this.tree.clear();
    this.object.clear();
  }

  private takeObjects(heard: readonly Heard[]): void {
    const changes: TreeChange[] = [];
    for (const one of heard) {
      const change = "signal" in one ? treeChangeOf(one.signal) : undefined;
      if (change !== undefined) changes.push(change);
      // Some were lost, or could not be read.
      else if ("lost" in one || one.signal.failure !== undefined) {
        this.doSoon("tree", () => this.refreshTree());
      }
    }
    if (changes.length === 0) return;
    this.tree.change((tree) => withTreeChanges(tree, changes));
    const path = this.place.peek()?.path;
    if (changes.some((change) => change.path === path)) this.refreshObjectSoon();
  }

  private takeSignals(heard: readonly Heard[]): void {
    if (heard.length > 0) this.log.add(heard);
    for (const one of heard) {
      if ("lost" in one) this.refreshObjectSoon();
      const changes = "signal" in one ? changesOf(one.signal) : undefined;
      if (changes !== undefined) this.change(changes);
    }
  }

  private change(changes: Changes): void {
    this.object.change((object) => withChanges(object, changes));
    const counts = new Map(this.changes.peek());
    for (const name of changes.values.keys()) {
      const key = memberKey(changes.interface, name);
      counts.set(key, (counts.get(key) ?? 0) + 1);
    }
    this.changes.value = counts;
    if (changes.invalidated.length > 0) this.refreshObjectSoon();
  }

  private refreshObjectSoon(): void {
    this.doSoon("object", () => this.refreshObject());
  }

  /** Does something once, a moment after it was wanted first: many changes are told of at once. */
  private doSoon(what: string, act: () => Promise<void>): void {
    if (this.soon.has(what)) return;
    this.soon.add(what);
    setTimeout(() => {
      this.soon.delete(what);
      void act();
    }, SOON_MS);
  }

  /** Whether somebody has a name, as far as is known. */
  private runs(name: string): boolean {
    const known = this.names.state.peek().value;
    const found = known?.find((one) => one.name === name);
    return known === undefined || (found !== undefined && isRunning(found));
  }
}

/** A member of an interface in one text. */
export function memberKey(of: string, member: string): string {
  return `${of} ${member}`;
}

/** Whether both are the same one. */
export function isSameMember(one: OpenMember | undefined, other: OpenMember): boolean {
  return one?.is === other.is && one.interface === other.interface && one.name === other.name;
}

const STARTER = {
  service: "org.freedesktop.DBus",
  path: "/org/freedesktop/DBus",
  interface: "org.freedesktop.DBus",
  method: "StartServiceByName",
  signature: "su",
};

/** Types that variants often have. */
export const VARIANT_TYPES = [
  "s",
  "b",
  "i",
  "u",
  "x",
  "t",
  "d",
  "y",
  "o",
  "g",
  "as",
  "ay",
  "a{sv}",
  "v",
];

/** So long after the first sign that something has changed it is asked for. */
const SOON_MS = 250;
/** Of more names than this all are asked for in one question. */
const LEARNT_MAX = 16;
/** Older calls are forgotten. */
const HISTORY_MAX = 200;
