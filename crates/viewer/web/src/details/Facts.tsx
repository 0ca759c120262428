// The header fields of a message, and what else is known about it.

import type { ComponentChildren, JSX } from "preact";
import type { MessageDetails, NamedPeer, Process } from "../generated/protocol";
import { ENDING_WORDS, type Ending, outcomeOf, paceOf } from "../model/outcome";
import { NONE, type Recording } from "../model/recording";
import { bytes, count, duration, sinceStart, timeOfDay } from "../parts/format";
import type { MenuItem } from "../parts/Menu";
import { SeenText } from "../parts/SeenText";
import { copyItems, filterItems } from "../query/filterMenu";
import type { Field } from "../query/terms";
import { useStore } from "../state/context";
import type { Store } from "../state/store";
import { Fact } from "./Fact";

interface FactsProps {
  readonly details: MessageDetails;
  /** The message that has the path, interface and member: the answered call for a reply. */
  readonly subject: number;
}

export function Facts({ details, subject }: FactsProps): JSX.Element {
  const store = useStore();
  const recording = store.recording.value;
  return (
    <dl class="facts">
      <DurationFact recording={recording} row={details.id} />
      <Texts details={details} recording={recording} subject={subject} />
      <PartyFacts name="From" field="from" party={details.sender} />
      <PartyFacts name="To" field="to" party={details.destination} />
      <Times details={details} />
      <Rest details={details} />
    </dl>
  );
}

interface DurationProps {
  readonly recording: Recording;
  readonly row: number;
}

/** The duration of the call that this message makes or answers, and how it ended. */
function DurationFact({ recording, row }: DurationProps): JSX.Element | null {
  const call = recording.callOf(row);
  if (call === NONE) return null;
  const { ending, waited } = outcomeOf(recording, call);
  if (waited === undefined) return null;
  const text = duration(waited);
  return (
    <Fact name="Duration" menu={() => copyItems(text)}>
      <strong class={`pace-${paceOf(waited)}`}>{text}</strong>
      <span class="note">{ENDING_NOTES[ending] ?? ENDING_WORDS[ending]}</span>
    </Fact>
  );
}

/** Notes after a duration that differ from the usual labels. */
const ENDING_NOTES: Readonly<Partial<Record<Ending, string>>> = {
  waiting: "no reply before the recording ended",
  "caller-left": "until the caller left, without a reply",
  "callee-left": "until the service left, without a reply",
};

interface TextFactProps {
  readonly name: string;
  readonly field: Field;
  readonly value: string;
}

/** A text by which messages can be filtered. Empty texts are left out. */
function TextFact({ name, field, value }: TextFactProps): JSX.Element | null {
  const store = useStore();
  if (value === "") return null;
  return (
    <Fact name={name} menu={() => filterItems(store, field, value)}>
      <SeenText key={value} text={value} />
    </Fact>
  );
}

interface TextsProps extends FactsProps {
  readonly recording: Recording;
}

/** Path, interface and member. A reply shows the values of its call. */
function Texts({ details, recording, subject }: TextsProps): JSX.Element {
  // The member of an error without a known call would repeat the error name.
  const hasMember = details.kind !== "error" || subject !== details.id;
  const text = (column: "path" | "interface" | "member"): string =>
    recording.text(recording[column].get(subject));
  return (
    <>
      {details.kind === "error" ? (
        <TextFact name="Error" field="error" value={details.member} />
      ) : null}
      <TextFact name="Path" field="path" value={text("path")} />
      <TextFact name="Interface" field="interface" value={text("interface")} />
      {hasMember ? <TextFact name="Member" field="member" value={text("member")} /> : null}
    </>
  );
}

interface PartyProps {
  readonly name: string;
  readonly field: Field;
  readonly party: NamedPeer;
}

/** A connection: the name in the message, its label, and its process. */
function PartyFacts({ name, field, party }: PartyProps): JSX.Element | null {
  const recording = useStore().recording.value;
  const peer = party.peer === null ? undefined : recording.peers[party.peer];
  if (party.name === "" && peer === undefined) return null;
  const unique = peer?.unique ?? "";
  const label = party.label ?? party.name;
  // The label of a program is not a name, so the query uses the unique name.
  const queried = peer !== undefined && !peer.names.includes(label) ? unique : label;
  const others = [party.name, unique].filter((other) => other !== "" && !label.includes(other));
  return (
    <>
      <TextFactAs name={name} field={field} shown={label} queried={queried}>
        {[...new Set(others)].map((other) => (
          <span key={other} class="note">
            <SeenText text={other} />
          </span>
        ))}
      </TextFactAs>
      {peer?.process ? <ProcessFacts process={peer.process} /> : null}
    </>
  );
}

interface TextFactAsProps {
  readonly name: string;
  readonly field: Field;
  readonly shown: string;
  readonly queried: string;
  readonly children: ComponentChildren;
}

function TextFactAs({ name, field, shown, queried, children }: TextFactAsProps): JSX.Element {
  const store = useStore();
  return (
    <Fact name={name} menu={() => filterItems(store, field, queried)}>
      <strong>
        <SeenText key={shown} text={shown} />
      </strong>
      {children}
    </Fact>
  );
}

function ProcessFacts({ process }: { readonly process: Process }): JSX.Element {
  const store = useStore();
  const { pid, uid, program, exe, command, unit } = process;
  const line = command.length > 0 ? command.join(" ") : (exe ?? "");
  const menu = (): MenuItem[] =>
    pid === null ? copyItems(line) : [...filterItems(store, "pid", pid), ...copyItems(line)];
  return (
    <Fact name="" menu={menu}>
      <div class="process">
        {pid === null ? null : <span>pid {pid}</span>}
        {program === null ? null : <SeenText text={program} />}
        {uid === null ? null : <span>uid {uid}</span>}
        {unit === null ? null : <SeenText text={unit} />}
      </div>
      {line === "" ? null : (
        <code class="note">
          <SeenText text={line} />
        </code>
      )}
    </Fact>
  );
}

/** The time of the message since the start and as time of day. */
function Times({ details }: { readonly details: MessageDetails }): JSX.Element {
  const { wall_ns, since_start_ns } = details.at;
  const { at } = useStore().recording.value;
  const isEarlier = details.id > 0 && at.get(details.id) < at.get(details.id - 1);
  const time = timeOfDay(BigInt(wall_ns));
  const since = sinceStart(since_start_ns);
  return (
    <Fact name="Time" menu={() => copyItems(time)}>
      <span title="Since the first message">{since}</span>
      <span class="note" title="Time of day, in the zone of this computer">
        {time}
      </span>
      {isEarlier ? (
        <span class="note">
          received before the message above: messages are in the order in which the bus routed them
        </span>
      ) : null}
    </Fact>
  );
}

function Rest({ details }: { readonly details: MessageDetails }): JSX.Element {
  const store = useStore();
  const { serial, reply_serial, bus, signature, size, unix_fds } = details;
  return (
    <>
      <Fact name="Serial" menu={() => filterItems(store, "serial", serial)}>
        {serial}
        {reply_serial === 0 ? null : <span class="note">reply to {reply_serial}</span>}
      </Fact>
      <TextFact name="Signature" field="sig" value={signature} />
      <Fact name="Size" menu={() => filterItems(store, "size", size)}>
        {bytes(size)}
        {size < EXACT_FROM ? null : <span class="note">{count(size)} bytes</span>}
        {unix_fds === 0 ? null : <span class="note">with {unix_fds} file descriptors</span>}
      </Fact>
      <FlagsFact details={details} store={store} />
      <TextFact name="Bus" field="bus" value={bus} />
    </>
  );
}

interface FlagsProps {
  readonly details: MessageDetails;
  readonly store: Store;
}

function FlagsFact({ details, store }: FlagsProps): JSX.Element | null {
  const { flags } = details;
  if (flags.length === 0) return null;
  const menu = (): MenuItem[] =>
    flags.flatMap((flag) => filterItems(store, "flags", FLAG_WORDS[flag] ?? flag).slice(0, 2));
  return (
    <Fact name="Flags" menu={menu}>
      {flags.join(", ")}
    </Fact>
  );
}

/** Flags as terms of the query language. */
const FLAG_WORDS: Readonly<Record<string, string>> = {
  "no reply expected": "no-reply",
  "no auto start": "no-auto-start",
  "allow interactive authorization": "interactive",
};

/** The size up to which {@link bytes} already shows the exact number. */
const EXACT_FROM = 1000;
