// Who did what when: a track for each bus and each process, made of the messages that are shown.

import { type Bus, Flag, Kind, NONE, type Peer, type Recording } from "../model/recording";
import type { Visible } from "../state/visible";
import { type Lanes, Spans } from "./lanes";
import { isPause, type Work } from "./order";

/**
 * What spans are: a bus that has a message, a process that works on a call of another, one that waits
 * for the answer to its call, and messages that ask for none.
 */
export const ROLES = ["bus", "serves", "waits", "sends"] as const;
export type Role = (typeof ROLES)[number];

/** Spans of one role. */
export interface Section {
  readonly role: Role;
  readonly lanes: Lanes;
}

/** What one process, or a bus, did. */
export interface Track {
  /** The same for the same process, whatever is shown. */
  readonly key: string;
  readonly title: string;
  readonly subtitle: string;
  /** What else there is to know of it. */
  readonly about: string;
  readonly isBus: boolean;
  readonly sections: readonly Section[];
}

/** All tracks that have anything on them. */
export interface Tracks {
  /** What they were made from; places of messages mean nothing in another one. */
  readonly recording: Recording;
  readonly tracks: readonly Track[];
  /** How far they go. */
  readonly end: number;
  /** The place of the track of a connection among them. */
  trackOf(peer: number): number | undefined;
  /** Whether a bus has told what it did with messages. */
  readonly isTraced: boolean;
}

/** Puts the messages that are shown on tracks. */
export function* tracksOf(recording: Recording, visible: Visible): Work<Tracks> {
  const { end } = recording;
  const drafts = draftsOf(recording);
  const drawing = new Drawing(recording, visible, drafts);
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
    const { key, title, subtitle, about, isBus } = draft;
    tracks.push({ key, title, subtitle, about, isBus, sections });
  }
  return {
    recording,
    tracks,
    end,
    trackOf: (peer) => places.get(peer),
    isTraced: drawing.isTraced,
  };
}

/** A track to which spans are added. */
interface Draft {
  readonly key: string;
  readonly title: string;
  readonly subtitle: string;
  /** What else there is to know of it. */
  readonly about: string;
  readonly isBus: boolean;
  readonly peers: number[];
  readonly spans: Readonly<Record<Role, Spans>>;
}

interface Drafts {
  readonly all: readonly Draft[];
  readonly byPeer: readonly Draft[];
  readonly byBus: readonly Draft[];
}

function draftsOf(recording: Recording): Drafts {
  const byBus = recording.buses.map((bus, place) => busDraft(bus, place, recording.buses.length));
  const byKey = new Map<string, Draft>();
  const byPeer = recording.peers.map((peer) => {
    const bus = byBus[peer.bus];
    const draft = peer.unique === DRIVER && bus ? bus : processDraft(byKey, peer);
    draft.peers.push(peer.id);
    return draft;
  });
  return { all: [...byBus, ...byKey.values()], byPeer, byBus };
}

function busDraft(bus: Bus, place: number, count: number): Draft {
  const title = count === 1 ? "the bus" : bus.label;
  const subtitle =
    bus.method === "trace" ? "as it has recorded itself" : "as a monitor has seen it";
  const about = bus.address ?? "";
  return { key: `bus ${place}`, title, subtitle, about, isBus: true, peers: [], spans: noSpans() };
}

/** The draft of the process of a connection; of one whose process is not known its own. */
function processDraft(byKey: Map<string, Draft>, peer: Peer): Draft {
  const { process } = peer;
  const isKnown = process?.pid != null;
  const key = isKnown ? `process ${process.pid} ${process.comm}` : `${peer.bus} ${peer.unique}`;
  const known = byKey.get(key);
  if (known !== undefined) return known;
  const title = (isKnown ? process.comm : null) ?? peer.label;
  const subtitle = isKnown ? nameOf(peer) : "";
  const about = isKnown ? `process ${process.pid}` : "process unknown";
  const draft = { key, title, subtitle, about, isBus: false, peers: [], spans: noSpans() };
  byKey.set(key, draft);
  return draft;
}

/** What a connection is called besides its program. */
function nameOf(peer: Peer): string {
  return peer.names[0] ?? peer.unique;
}

function noSpans(): Record<Role, Spans> {
  return { bus: new Spans(), serves: new Spans(), waits: new Spans(), sends: new Spans() };
}

/** Lanes of a section. What does not fit runs together in the last one. */
const LANES: Readonly<Record<Role, number>> = { bus: 4, serves: 8, waits: 8, sends: 1 };
/** A bus has many messages at a time only while recipients do not read. */
const BUS_LANES = 4;

function* sectionsOf(draft: Draft): Work<Section[]> {
  const sections: Section[] = [];
  for (const role of ROLES) {
    const spans = draft.spans[role];
    if (spans.length > 0)
      sections.push({ role, lanes: yield* spans.lanes(draft.isBus ? BUS_LANES : LANES[role]) });
  }
  return sections;
}

/** Adds what messages are to the tracks of those who have to do with them. */
class Drawing {
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
    if (this.recording.durationOf(row) !== undefined) this.addPair(row, reply);
    else this.addPoint(row, this.isForgotten(row));
  }

  /** Whether a call without an answer should have got one. */
  private isForgotten(call: number): boolean {
    const wantsNone = (this.recording.flags.get(call) & Flag.NoReplyExpected) !== 0;
    return !wantsNone && this.recording.end - this.recording.at.get(call) > ANSWER_DUE;
  }

  /** What answers a call that is not shown itself shows the call. */
  private addReply(row: number): void {
    const call = this.recording.callOf(row);
    if (call === NONE || this.visible.has(call)) return;
    if (this.recording.durationOf(row) !== undefined) this.addPair(call, row);
  }

  private addPair(call: number, reply: number): void {
    const { recording, drafts } = this;
    const isError = recording.kind.get(reply) === Kind.Error;
    const waits = waitsOf(recording, call, reply);
    const serves = servesOf(recording, call, reply);
    drafts.byPeer[recording.from.get(call)]?.spans.waits.add(...waits, call, isError);
    drafts.byPeer[recording.from.get(reply)]?.spans.serves.add(...serves, call, isError);
  }

  private addPoint(row: number, isError: boolean): void {
    const at = this.recording.at.get(row);
    this.drafts.byPeer[this.recording.from.get(row)]?.spans.sends.add(at, at, row, isError);
  }
}

/** From when to when the caller waited: until the bus had given it the reply, if that is known. */
export function waitsOf(recording: Recording, call: number, reply: number): [number, number] {
  return [recording.at.get(call), recording.writtenAt(reply)];
}

/** From when to when the callee had a call: from when the bus had given it to it, if that is known. */
export function servesOf(recording: Recording, call: number, reply: number): [number, number] {
  const replied = recording.at.get(reply);
  const got = recording.at.get(call) + deliveredAfter(recording, call);
  return [Math.min(got, replied), replied];
}

/** Nanoseconds from when the bus had a message until it had written it; 0 if that is not known. */
export function deliveredAfter(recording: Recording, row: number): number {
  const delivered = recording.delivered.get(row);
  return delivered === NONE ? 0 : delivered;
}

/** Nanoseconds after which most calls have their answers; before, one may still come. */
const ANSWER_DUE = 2e9;

/** What buses are called among their connections. */
const DRIVER = "org.freedesktop.DBus";
