// Tracks: the spans of each bus and each process, made from the displayed messages.

import type { Bus, Peer } from "../generated/protocol";
import { isUnanswered, type Outcome, outcomeOf } from "../model/outcome";
import { Kind, NONE, type Recording } from "../model/recording";
import { GROUP_MIN, isPassing, type Merging, programOf } from "../sequence/model/columns";
import type { Visible } from "../state/visible";
import { Spans, type TrackLanes } from "./lanes";
import { isPause, type PausableWork } from "./sorting";

/**
 * The roles of spans: a bus that handles a message, a process that works on a call, a process that
 * waits for the reply to its call, and messages without a reply.
 */
export const ROLES = ["bus", "serves", "waits", "sends"] as const;
export type Role = (typeof ROLES)[number];

/** Spans of one role. */
export interface TrackSection {
  readonly role: Role;
  readonly lanes: TrackLanes;
}

/** The activity of one process or bus. */
export interface Track {
  /** A key that identifies the same process with any selection. */
  readonly key: string;
  readonly title: string;
  readonly subtitle: string;
  /** A further description. */
  readonly about: string;
  readonly isBus: boolean;
  readonly sections: readonly TrackSection[];
  /** Number of spans and points. */
  readonly messages: number;
  /** Longest wait for a reply, in nanoseconds. */
  readonly longestWait: number;
  /** The group of short-lived connections that the track represents or belongs to. */
  readonly group?: TrackGroup;
}

/** Short-lived connections of one program. */
export interface TrackGroup {
  readonly key: string;
  readonly isMerged: boolean;
}

/** All tracks that have spans. */
export interface Tracks {
  /** The recording of the spans. Positions of messages are meaningless in another one. */
  readonly recording: Recording;
  readonly tracks: readonly Track[];
  /** The end of the last span. */
  readonly end: number;
  /** The index of the track of a connection. */
  trackOf(peer: number): number | undefined;
  /** True if a bus reported how it handled messages. */
  readonly isTraced: boolean;
}

/** Puts the displayed messages on tracks. */
export function* tracksOf(
  recording: Recording,
  visible: Visible,
  merging: Merging = NO_MERGING,
): PausableWork<Tracks> {
  const { end } = recording;
  const drafts = draftsOf(recording, merging);
  const drawing = new TrackBuilder(recording, visible, drafts);
  for (const [step, row] of visible.rows.entries()) {
    drawing.add(row);
    if (isPause(step)) yield;
  }
  const tracks: Track[] = [];
  const places = new Map<number, number>();
  for (const draft of drafts.all) {
    const sections = yield* sectionsOf(draft);
    if (sections.length === 0) continue;
    for (const peer of draft.peers) places.set(peer, tracks.length);
    const { key, title, subtitle, about, isBus, group, spans } = draft;
    const messages = sections.reduce((sum, { lanes }) => sum + lanes.length, 0);
    const counted = { sections, messages, longestWait: spans.waits.longest };
    tracks.push({ key, title, subtitle, about, isBus, ...counted, ...(group ? { group } : {}) });
  }
  return {
    recording,
    tracks,
    end,
    trackOf: (peer) => places.get(peer),
    isTraced: drawing.isTraced,
  };
}

/** A track that is being built. */
interface TrackDraft {
  readonly key: string;
  readonly title: string;
  readonly subtitle: string;
  /** A further description. */
  readonly about: string;
  readonly isBus: boolean;
  readonly group?: TrackGroup;
  readonly peers: number[];
  readonly spans: Readonly<Record<Role, Spans>>;
}

interface Drafts {
  readonly all: readonly TrackDraft[];
  readonly byPeer: readonly TrackDraft[];
  readonly byBus: readonly TrackDraft[];
}

function draftsOf(recording: Recording, merging: Merging): Drafts {
  const groups = groupsOf(recording, merging);
  const byBus = recording.buses.map((bus, place) => busDraft(bus, place, recording.buses.length));
  const byKey = new Map<string, TrackDraft>();
  const byPeer = recording.peers.map((peer) => {
    const bus = byBus[peer.bus];
    const draft = peer.unique === DRIVER && bus ? bus : processDraft(byKey, peer, merging, groups);
    draft.peers.push(peer.id);
    return draft;
  });
  return { all: [...byBus, ...byKey.values()], byPeer, byBus };
}

function busDraft(bus: Bus, place: number, count: number): TrackDraft {
  const title = count === 1 ? "the bus" : bus.label;
  const subtitle = bus.method === "trace" ? "recorded by the bus itself" : "recorded by a monitor";
  const about = bus.address ?? "";
  return { key: `bus ${place}`, title, subtitle, about, isBus: true, peers: [], spans: noSpans() };
}

/** The draft for the process of a connection. A connection with an unknown process has its own. */
function processDraft(
  byKey: Map<string, TrackDraft>,
  peer: Peer,
  merging: Merging,
  groups: TrackGroups,
): TrackDraft {
  const { process } = peer;
  const program = isPassing(peer) ? programOf(peer) : undefined;
  const size = groups.get(program ?? "");
  const isMerged = size !== undefined && !merging.expanded.has(program ?? "");
  const isKnown = process?.pid != null;
  const own = isKnown ? `process ${process.pid} ${process.program}` : `${peer.bus} ${peer.unique}`;
  const key = isMerged ? (program ?? own) : own;
  const known = byKey.get(key);
  if (known !== undefined) return known;
  const name = (isKnown ? process.program : null) ?? peer.label;
  const group = size === undefined ? {} : { group: { key: program ?? "", isMerged } };
  const common = { key, isBus: false, peers: [], spans: noSpans(), ...group };
  const draft = isMerged
    ? { ...common, title: `${name} × ${size}`, subtitle: "short-lived connections", about: "" }
    : {
        ...common,
        title: name,
        subtitle: isKnown ? nameOf(peer) : "",
        about: isKnown ? `process ${process.pid}` : "process unknown",
      };
  byKey.set(key, draft);
  return draft;
}

/** The number of short-lived connections of each program, if there are enough to be merged. */
type TrackGroups = ReadonlyMap<string, number>;

function groupsOf(recording: Recording, { merges }: Merging): TrackGroups {
  const sizes = new Map<string, number>();
  if (merges === "nothing") return sizes;
  for (const peer of recording.peers) {
    const program = isPassing(peer) ? programOf(peer) : undefined;
    if (program !== undefined) sizes.set(program, (sizes.get(program) ?? 0) + 1);
  }
  return new Map([...sizes].filter(([, size]) => size >= GROUP_MIN));
}

const NO_MERGING: Merging = { merges: "nothing", expanded: new Set() };

/** The name of a connection in addition to its program. */
function nameOf(peer: Peer): string {
  return peer.names[0] ?? peer.unique;
}

function noSpans(): Record<Role, Spans> {
  return { bus: new Spans(), serves: new Spans(), waits: new Spans(), sends: new Spans() };
}

/** Number of lanes of a section. Spans that do not fit are merged in the last lane. */
const LANES: Readonly<Record<Role, number>> = { bus: 4, serves: 8, waits: 8, sends: 1 };
/** Lanes of a bus. It handles many messages at a time only while recipients do not read. */
const BUS_LANES = 4;

function* sectionsOf(draft: TrackDraft): PausableWork<TrackSection[]> {
  const sections: TrackSection[] = [];
  for (const role of ROLES) {
    const spans = draft.spans[role];
    if (spans.length > 0)
      sections.push({ role, lanes: yield* spans.lanes(draft.isBus ? BUS_LANES : LANES[role]) });
  }
  return sections;
}

/** Adds the spans of messages to the tracks of their peers. */
class TrackBuilder {
  isTraced = false;

  constructor(
    private readonly recording: Recording,
    private readonly visible: Visible,
    private readonly drafts: Drafts,
  ) {}

  add(row: number): void {
    this.addToBus(row);
    const kind = this.recording.kind.get(row);
    if (kind === Kind.Call) this.addCall(row);
    else if (kind === Kind.Signal) this.addPoint(row, false);
    else this.addReply(row);
  }

  private addToBus(row: number): void {
    const { recording } = this;
    if (recording.routed.get(row) === NONE) return;
    this.isTraced = true;
    const at = recording.at.get(row);
    const until = at + Math.max(recording.routed.get(row), deliveredAfter(recording, row));
    this.drafts.byBus[recording.bus.get(row)]?.spans.bus.add(at, until, row, false);
  }

  private addCall(row: number): void {
    const reply = this.recording.partner.get(row);
    const outcome = outcomeOf(this.recording, row);
    if (isUnanswered(outcome) && (outcome.waited ?? 0) > 0) this.addWait(row, outcome);
    else if (this.recording.durationOf(row) !== undefined) this.addPair(row, reply);
    else this.addPoint(row, false);
  }

  /** Adds the wait of a caller until it disconnects or the recording ends. */
  private addWait(call: number, { ending, waited = 0 }: Outcome): void {
    const { recording, drafts } = this;
    const at = recording.at.get(call);
    // The reply to a recent call may still come.
    const isError = ending === "caller-left" || waited > REPLY_DUE;
    drafts.byPeer[recording.from.get(call)]?.spans.waits.add(at, at + waited, call, isError);
  }

  /** A reply whose call is not displayed adds the span of the call. */
  private addReply(row: number): void {
    const call = this.recording.callOf(row);
    if (call !== NONE && !this.visible.has(call)) this.addCall(call);
  }

  private addPair(call: number, reply: number): void {
    const { recording, drafts } = this;
    const isError = recording.kind.get(reply) === Kind.Error;
    const waits = waitsOf(recording, call, reply);
    const serves = servesOf(recording, call, reply);
    drafts.byPeer[recording.from.get(call)]?.spans.waits.add(...waits, call, isError);
    drafts.byPeer[servantOf(recording, call)]?.spans.serves.add(...serves, call, isError);
  }

  private addPoint(row: number, isError: boolean): void {
    const at = this.recording.at.get(row);
    this.drafts.byPeer[this.recording.from.get(row)]?.spans.sends.add(at, at, row, isError);
  }
}

/** The connection that works on a call: its callee, even if the bus has replied instead. */
export function servantOf(recording: Recording, call: number): number {
  const { ending } = outcomeOf(recording, call);
  const isReplaced = ending === "timed-out" || ending === "callee-left";
  const callee = recording.to.get(call);
  return isReplaced && callee !== NONE ? callee : recording.from.get(recording.partner.get(call));
}

/**
 * The time range in which the caller waited: until the bus had written the reply, if that is known.
 */
export function waitsOf(recording: Recording, call: number, reply: number): [number, number] {
  const at = recording.at.get(call);
  const outcome = outcomeOf(recording, call);
  if (reply !== NONE && !isUnanswered(outcome)) return [at, recording.writtenAt(reply)];
  return [at, at + (outcome.waited ?? 0)];
}

/**
 * The time range in which the callee had a call: from when the bus had written it, if that is
 * known.
 */
export function servesOf(recording: Recording, call: number, reply: number): [number, number] {
  const replied = recording.at.get(reply);
  const got = recording.at.get(call) + deliveredAfter(recording, call);
  return [Math.min(got, replied), replied];
}

/** Nanoseconds from when the bus received a message until it had written it; 0 if unknown. */
export function deliveredAfter(recording: Recording, row: number): number {
  const delivered = recording.delivered.get(row);
  return delivered === NONE ? 0 : delivered;
}

/** Nanoseconds after which most calls have their replies. Before, a reply may still come. */
const REPLY_DUE = 2e9;

/** The bus name of buses themselves. */
const DRIVER = "org.freedesktop.DBus";
