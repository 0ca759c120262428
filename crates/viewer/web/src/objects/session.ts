// The state of the objects view. It is kept while another view is shown.

import { batch, computed, effect, signal } from "@preact/signals";
import type {
  BusObject,
  CallAnswer,
  Method,
  Name,
  SignalEvent,
  Tree,
  Watched,
} from "../generated/protocol";
import type { BusClient } from "./bus";
import { BusWatcher, type WatchedEvent, type WatchListener } from "./busWatch";
import { CallDraft, type FullCall, type PastCall } from "./callDraft";
import { type Changes, changesOf, withChanges } from "./changes";
import { Latest, sentenceOf } from "./latest";
import { isRunning, type OwnerChange, ownerChangeOf, withDetails, withOwner } from "./names";
import { firstPath } from "./objectTree";
import { SignalLog } from "./signalLog";
import { type TreeChange, treeChangeOf, withTreeChanges } from "./treeChanges";

/** The tabs of an object. */
export type ObjectTab = "members" | "signals" | "calls";

/** An object on the bus. */
export interface ObjectPlace {
  readonly service: string;
  readonly path: string;
}

/** The member whose form is open: a method to call or a property to set. */
export interface OpenMember {
  readonly is: "method" | "property";
  readonly interface: string;
  readonly name: string;
}

/** The state of the objects view. */
export class Session implements WatchListener {
  readonly names = new Latest<readonly Name[]>();
  readonly nameFilter = signal("");
  readonly service = signal<string | undefined>(undefined);
  readonly tree = new Latest<Tree>();
  readonly treeFilter = signal("");
  readonly folded = signal<ReadonlySet<string>>(new Set());
  /** The path of the tree line that has the keyboard focus. */
  readonly cursor = signal<string | undefined>(undefined);
  readonly place = signal<ObjectPlace | undefined>(undefined);
  readonly object = new Latest<BusObject>();
  readonly tab = signal<ObjectTab>("members");
  readonly open = signal<OpenMember | undefined>(undefined);
  readonly log = new SignalLog();
  readonly watchProblem = signal<string | undefined>(undefined);
  /** The number of changes of each property since the object was selected. */
  readonly changes = signal<ReadonlyMap<string, number>>(new Map());
  /** The calls of this session, newest first. */
  readonly history = signal<readonly PastCall[]>([]);

  private readonly watched = computed<Watched>(() => {
    return { service: this.service.value ?? null, path: this.place.value?.path ?? null };
  });
  constructor(readonly client: BusClient) {}

  /** The scope that was loaded last; undefined until the watch begins. */
  private loaded: Watched | undefined;
  private readonly drafts = new Map<string, CallDraft>();
  private readonly scheduled = new Set<string>();
  /** New connections of which only the name is known. */
  private readonly newConnections = new Set<string>();
  private calls = 0;

  /** Starts to watch the bus and to load data. Returns a function that stops the watch. */
  follow(): () => void {
    this.loaded = undefined;
    void this.client.typesOf(VARIANT_TYPES.join("")).catch(() => null);
    const watcher = new BusWatcher(this.client.subscribe(), this.watched.peek(), this);
    const end = effect(() => watcher.changeTo(this.watched.value));
    return () => {
      end();
      watcher.end();
    };
  }

  /** Loads the parts of the scope that changed since the last call. */
  onBegin(watched: Watched): void {
    const { loaded } = this;
    this.loaded = watched;
    const isOther = loaded?.service !== watched.service;
    if (loaded === undefined) void this.refreshNames().then(() => this.refreshTree());
    else if (isOther) void this.refreshTree();
    if (isOther || loaded?.path !== watched.path) void this.refreshObject();
  }

  /** Applies a batch of events. */
  onEvents(events: readonly WatchedEvent[]): void {
    const by = (kind: WatchedEvent["of"]): SignalEvent[] =>
      events.filter(({ of }) => of === kind).map(({ what }) => what);
    batch(() => {
      this.applyNameSignals(by("names"));
      this.applyObjectSignals(by("objects"));
      this.applySignals(by("object"));
    });
  }

  onFailure(reason: string): void {
    this.watchProblem.value = reason;
  }

  /** Loads the names again. */
  async refreshNames(): Promise<void> {
    await this.names.load(this.client.names());
  }

  /** Selects a service. A service that is not running is not started. */
  chooseService(name: string): void {
    if (this.service.peek() !== name) this.show(name, undefined);
  }

  /**
   * Selects a service and one of its objects. Without a path, the first object is selected once the
   * tree is loaded.
   */
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

  /** Loads the objects of the service again if it is running. Browsing must not start services. */
  async refreshTree(): Promise<void> {
    const service = this.service.peek();
    if (service === undefined || !this.hasOwner(service)) return;
    const tree = await this.tree.load(this.client.tree(service));
    const path = tree === undefined ? undefined : firstPath(tree.nodes);
    if (path !== undefined && this.place.peek() === undefined) this.choosePlace({ service, path });
  }

  /** Selects an object, or none. */
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

  /** Loads the selected object again. */
  async refreshObject(): Promise<void> {
    const place = this.place.peek();
    if (place !== undefined) await this.object.load(this.client.object(place.service, place.path));
  }

  /** The form of a method, with the previous input. */
  draftOf(place: ObjectPlace, of: string, method: Method): CallDraft {
    const target = { ...place, interface: of, method: method.name };
    const signature = method.arguments.map(({ type }) => type).join("");
    const key = [place.service, place.path, of, method.name, signature].join(" ");
    const draft = this.drafts.get(key) ?? new CallDraft(target, method, this.client);
    this.drafts.set(key, draft);
    return draft;
  }

  /** Adds a call to the history. */
  remember(
    { takes }: CallDraft,
    call: FullCall,
    answer: CallAnswer,
    durations: readonly number[],
  ): void {
    const past = { number: ++this.calls, at: Date.now(), call, takes, answer, durations };
    this.history.value = [past, ...this.history.peek()].slice(0, HISTORY_MAX);
  }

  /** Opens the form of an earlier call, with its arguments. */
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

  /** Starts a service that is not running. Returns the error, if it fails. */
  async start(name: string): Promise<string | undefined> {
    try {
      const answer = await this.client.call({ ...STARTER, arguments: [name, 0] });
      return answer.failed?.sentence;
    } catch (error) {
      return sentenceOf(error);
    }
  }

  private applyNameSignals(events: readonly SignalEvent[]): void {
    for (const one of events) {
      if ("lost" in one || one.signal.member === "ActivatableServicesChanged") {
        this.schedule("names", () => this.refreshNames());
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
      this.newConnections.add(name);
      this.schedule("newConnections", () => this.loadNewConnections());
    }
    if (name !== this.service.peek()) return;
    // The new owner of the name may have other objects; without an owner there are none.
    if (owner !== undefined) this.schedule("service", () => this.refreshService());
    else this.forgetService();
  }

  /**
   * Loads the details of new connections that still exist. Connections that make only one call have
   * usually gone.
   */
  private async loadNewConnections(): Promise<void> {
    const names = [...this.newConnections].filter((name) => this.hasOwner(name));
    this.newConnections.clear();
    if (names.length > LOOKUPS_MAX) await this.refreshNames();
    else await Promise.all(names.map((name) => this.loadDetails(name)));
  }

  private async loadDetails(name: string): Promise<void> {
    const details = await this.client.name(name).catch(() => null);
    if (details !== null) this.names.change((names) => withDetails(names, details));
  }

  private async refreshService(): Promise<void> {
    await Promise.all([this.refreshTree(), this.refreshObject()]);
  }

  private forgetService(): void {
    this.tree.clear();
    this.object.clear();
  }

  private applyObjectSignals(events: readonly SignalEvent[]): void {
    const changes: TreeChange[] = [];
    for (const one of events) {
      const change = "signal" in one ? treeChangeOf(one.signal) : undefined;
      if (change !== undefined) changes.push(change);
      // Some signals were lost or could not be read.
      else if ("lost" in one || one.signal.failure !== undefined) {
        this.schedule("tree", () => this.refreshTree());
      }
    }
    if (changes.length === 0) return;
    this.tree.change((tree) => withTreeChanges(tree, changes));
    const path = this.place.peek()?.path;
    if (changes.some((change) => change.path === path)) this.refreshObjectSoon();
  }

  private applySignals(events: readonly SignalEvent[]): void {
    if (events.length > 0) this.log.add(events);
    for (const one of events) {
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
    this.schedule("object", () => this.refreshObject());
  }

  /** Runs an action once after a delay, since many events often arrive together. */
  private schedule(name: string, act: () => Promise<void>): void {
    if (this.scheduled.has(name)) return;
    this.scheduled.add(name);
    setTimeout(() => {
      this.scheduled.delete(name);
      void act();
    }, DELAY_MS);
  }

  /** True if a name has an owner, or if the names are not loaded yet. */
  private hasOwner(name: string): boolean {
    const known = this.names.state.peek().value;
    const found = known?.find((one) => one.name === name);
    return known === undefined || (found !== undefined && isRunning(found));
  }
}

/** A key that identifies a member of an interface. */
export function memberKey(of: string, member: string): string {
  return `${of} ${member}`;
}

/** True if both are the same member. */
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

/** Common types of variants, which the form offers. */
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

/** The delay between the first event and the request for new data. */
const DELAY_MS = 250;
/** The maximum number of new connections that are looked up individually. */
const LOOKUPS_MAX = 16;
/** The maximum number of calls in the history. */
const HISTORY_MAX = 200;
