// Generated from the types of crates/analyst and crates/viewer. Do not edit: run
// DILIGENCE_BLESS=1 cargo test -p diligence-viewer protocol

import type { Schema } from "../format/check";

/** The version of the format. */
export const VERSION = 3;

/** Any JSON value. */
export type Json =
  | null
  | boolean
  | number
  | string
  | readonly Json[]
  | { readonly [key: string]: Json };

/** What the page is told about the recording in it. */
export interface About {
  /** Whether the contents of messages were removed. */
  readonly redacted: boolean;
  /** The title of the page. */
  readonly title: string;
}

/** Whether a property can be read and set. */
export type Access = "read" | "write" | "read-write";

/** A name and a value about an interface, a member or an argument. */
export interface Annotation {
  /** The name of the annotation. */
  readonly name: string;
  /** The value of the annotation. */
  readonly value: string;
}

/** An answer, under the name of its question. */
export type AnswerBody =
  | { readonly select: SelectAnswer }
  | { readonly without: WithoutAnswer }
  | { readonly complete: Completions }
  | { readonly message: MessageDetails }
  | { readonly summary: SummaryAnswer }
  | { readonly statistics: StatisticsAnswer }
  | { readonly findings: FindingsAnswer }
  | { readonly ending: EndingAnswer }
  | { readonly timeline: TimelineAnswer }
  | { readonly save: SaveAnswer }
  | { readonly switches: SwitchesAnswer }
  | { readonly compare: CompareAnswer };

/** An argument of a method, a reply or a signal. */
export interface Argument {
  /** Annotations of the argument. */
  readonly annotations?: readonly Annotation[];
  /** The name of the argument, if it has one. */
  readonly name: string | null;
  /** The signature of the argument. */
  readonly type: string;
}

/** The letter of a basic type in signatures. */
export type BasicCode = "y" | "b" | "n" | "q" | "i" | "u" | "x" | "t" | "d" | "s" | "o" | "g" | "h";

/** A bus, and how it was captured. */
export interface Bus {
  /** Its address, if it is known. */
  readonly address: string | null;
  /** The file that it was read from, as an index. */
  readonly file: number;
  /** Its name on the page. */
  readonly label: string;
  /** How its messages were captured. */
  readonly method: CaptureMethod;
  /** Whether the contents of its messages were removed. */
  readonly redacted: boolean;
}

/** The answer to a `BusRequest`, under the name of the request. */
export type BusAnswer =
  | { readonly names: readonly Name[] }
  | { readonly name: Name | null }
  | { readonly tree: Tree }
  | { readonly object: BusObject }
  | { readonly get: CallAnswer }
  | { readonly set: CallAnswer }
  | { readonly call: CallAnswer }
  | { readonly read: ReadText }
  | { readonly write: string }
  | { readonly commands: CallCommands }
  | { readonly types: readonly ValueType[] | null };

/** An object: its members, and the values of its properties. */
export interface BusObject {
  /** The child objects in its introspection data, relative to its path. They are not validated. */
  readonly children: readonly string[];
  /** The interfaces in its introspection data. */
  readonly interfaces: readonly ObjectInterface[];
  /** The path of the object. */
  readonly path: string;
  /** The bus name that the requests were sent to. */
  readonly service: string;
  /** Nanoseconds that the requests took. */
  readonly took_ns: number;
}

/** The result of a call that was sent, with its duration. */
export interface CallAnswer {
  readonly failed?: Failure;
  readonly returned?: { readonly descriptors: readonly Descriptor[]; readonly results: readonly TypedValue[]; readonly sender: string };
  readonly sent?: object;
  /** Nanoseconds from the call to its reply. */
  readonly took_ns: number;
}

/** Commands that make a call. */
export interface CallCommands {
  /** With busctl. */
  readonly busctl: string;
  /** With gdbus. */
  readonly gdbus: string;
}

/** How messages of a bus were captured. It determines what a recording can show. */
export type CaptureMethod = "unknown" | "trace" | "monitor" | "eavesdrop";

/** A cell of a table; null if the value is unknown or absent. */
export type Cell = string | number | null;

/** What the JSON of a frame says about a column of it. */
export interface ColumnHead {
  /** How many numbers the column has. */
  readonly length: number;
  /** The name. */
  readonly name: ColumnName;
  /** How the numbers are stored. */
  readonly type: ColumnType;
  /** The value of all numbers of the type `same`. */
  readonly value?: number;
}

/** The names of all columns in all frames. */
export type ColumnName = "step" | "at" | "kind" | "flags" | "health" | "bus" | "from" | "to" | "destination" | "path" | "interface" | "member" | "answers" | "size" | "routed" | "delivered" | "copies" | "recipients" | "selected" | "file" | "peer" | "until" | "on";

/** How the numbers of a column are stored. */
export type ColumnType = "u8" | "u32" | "f64" | "i8" | "i16" | "same";

/** A command that sends a message like another one. */
export type CommandText = { readonly name: string; readonly text: string } | { readonly name: string; readonly why: string };

/** Differences between two recordings. */
export interface CompareAnswer {
  /** How many members were used before and after. */
  readonly members: readonly [number, number];
  /** The differences beyond noise. */
  readonly table: TableData;
}

/** How a query can continue. */
export interface Completions {
  /** First byte that an offer replaces. */
  readonly from: number;
  /** The offers, the most likely one first. */
  readonly offers: readonly Offer[];
  /** End of the bytes that an offer replaces. */
  readonly to: number;
}

/** How sure it is. */
export type Confidence = "low" | "medium" | "high";

/** A copy of a message for one recipient. */
export interface CopyEntry {
  /** Nanoseconds until its first bytes were written. */
  readonly begun_after_ns: number | null;
  /** The unique name of the recipient. */
  readonly recipient: string;
  /** Match rules of the recipient that match; 0 if the message is addressed to it. */
  readonly rules: number;
  /** Nanoseconds until all of its bytes were written. */
  readonly written_after_ns: number | null;
}

/** What something costs. The parts are compared by `Cost::as_time`. */
export interface Cost {
  /** Bytes that need not travel. */
  readonly bytes: number;
  /** Calls that need not be. */
  readonly calls: number;
  /** The longest of them; zero if it is unknown. */
  readonly longest_wait_ns: number;
  /** How long programs waited: the sum of all waits, which may overlap. */
  readonly waited_ns: number;
  /** How many waits were added up. */
  readonly waits: number;
  /** Times that a program was woken for nothing. */
  readonly wake_ups: number;
}

/** A file descriptor in a message. */
export interface Descriptor {
  /**
   * The target of its link in `/proc/self/fd`: a path, `socket:[…]` or `pipe:[…]`. Empty if the
   * link cannot be read.
   */
  readonly what: string;
}

/**
 * How an object announces changes of a property: the annotation `EMITS_CHANGE` of the property, or else of its
 * interface.
 */
export type EmitsChange = "value" | "invalidates" | "const" | "no";

/** Why the recording is incomplete. */
export interface EndingAnswer {
  /** One sentence for each reason; none if the recording is complete. */
  readonly incomplete: readonly string[];
}

/** Messages that show something. */
export interface Evidence {
  /** How many there are in all. */
  readonly count: number;
  /** The numbers of the first few, from 1. */
  readonly first: readonly number[];
}

/** The JSON form of an `InspectorFailure`. */
export interface Failure {
  /** The number of the argument that is wrong, starting at 1. */
  readonly argument?: number;
  /** The kind of failure; see `InspectorFailure::kind`. */
  readonly kind: string;
  /** The text of an error reply. */
  readonly message?: string;
  /** The name of an error reply. */
  readonly name?: string;
  /** The failure as a sentence for people. */
  readonly sentence: string;
}

/** A finding with the texts of its rule. */
export interface Finding {
  /** What to do about it. */
  readonly advice: string;
  /** The command that shows whether a change has helped. */
  readonly check?: string;
  /** How sure it is. */
  readonly confidence: Confidence;
  /** What it costs, as far as the recording shows. */
  readonly cost: Cost;
  /** All parts of its cost in one measure, in nanoseconds. */
  readonly cost_ns: number;
  /** The messages that show it. */
  readonly evidence: Evidence;
  /** A query for the messages in question, by which to see whether a change has helped. */
  readonly query: string;
  /** The rule. */
  readonly rule: string;
  /** What they do, as a sentence about them: "asks X every 200 ms, 150 times". */
  readonly says: string;
  /** How bad it is. */
  readonly severity: Severity;
  /** What it is about, in a form that is the same in another recording: a member, a name. */
  readonly subject: string;
  /** The title of the rule. */
  readonly title: string;
  /** Who does it. */
  readonly who: FindingParty;
}

/** A party to a finding. */
export interface FindingParty {
  /** What to call it in this recording. */
  readonly label: string;
  /** Its program and process, if they are known. */
  readonly process?: string;
  /** What to call it in any recording: a name or a program; `-` if only its unique name is known. */
  readonly stable: string;
  /** Its systemd unit, if it is known. */
  readonly unit?: string;
}

/** What the linter found, with the rules that were applied. */
export interface FindingsAnswer {
  /** Connections. */
  readonly connections: number;
  /** The findings, the worst one first. */
  readonly findings: readonly Finding[];
  /** Connections whose process is known. */
  readonly known: number;
  /** Messages that were checked. */
  readonly messages: number;
  /** Messages of the recorder, which were not checked. */
  readonly recorder_messages: OfRecorder;
  /** The rules that were applied. */
  readonly rules: readonly Rule[];
  /** Nanoseconds from the first message to the last. */
  readonly span_ns: number;
}

/** The JSON of a frame, without the list of its columns. */
export type FrameHead =
  | HelloHead & { readonly kind: "hello" }
  | MessagesHead & { readonly kind: "messages" }
  | { readonly disconnected: number; readonly kind: "missing"; readonly overrun: number }
  | { readonly before: number; readonly kind: "reset" }
  | { readonly kind: "end"; readonly why: string | null }
  | { readonly answer: AnswerBody; readonly kind: "answer" }
  | { readonly column?: number; readonly kind: "refusal"; readonly message: string; readonly unfinished?: boolean }
  | { readonly before: number; readonly kind: "moved" };

/** An event of a watch. */
export type Heard =
  | { readonly signal: HeardSignal }
  | { readonly lost: { readonly count: number } };

/** A signal that arrived. */
export interface HeardSignal {
  readonly arguments?: readonly TypedValue[];
  /**
   * When the signal was received, in microseconds since 1970. Nanoseconds would exceed the
   * precision of numbers in JavaScript.
   */
  readonly at_us: number;
  /** The file descriptors of the signal, in order of their indexes. They are already closed. */
  readonly descriptors?: readonly Descriptor[];
  readonly failure?: Failure;
  /** The interface of the signal. */
  readonly interface: string;
  /** The name of the signal. */
  readonly member: string;
  /** The path of the object. */
  readonly path: string;
  /** The unique name of the sender. */
  readonly sender: string;
}

/** What the stream begins with. */
export interface HelloHead {
  /** Whether the page may call methods and set properties. */
  readonly calls: boolean;
  /** What the page shows. */
  readonly mode: PageMode;
  /** Whether the page can ask the bus for its objects. */
  readonly objects: boolean;
  /** The version of the program. */
  readonly program: string;
  /** The title of the page. */
  readonly title: string;
  /** The version of the format: `VERSION`. */
  readonly version: number;
}

/** How long the bus had a message. */
export interface InBus {
  /** Phases; they add up to `total_ns`. */
  readonly phases: readonly PhaseTime[];
  /** Nanoseconds until the bus had queued all copies. */
  readonly routed_after_ns: number;
  /** Nanoseconds until the last copy was written; `None` if a copy was not written. */
  readonly total_ns: number | null;
}

/** Everything about one message. Texts that the message does not have are empty. */
export interface MessageDetails {
  /** Its arguments; none if they cannot be read. */
  readonly arguments: readonly Value[];
  /** When it was captured. */
  readonly at: MessageTime;
  /** Its bus. */
  readonly bus: string;
  /** Commands that send a message like it. */
  readonly commands: readonly CommandText[];
  /** Copies of the message, if the bus recorded them. */
  readonly deliveries: readonly CopyEntry[] | null;
  /** Its destination. */
  readonly destination: NamedPeer;
  /** Nanoseconds from the call to the reply. */
  readonly duration_ns: number | null;
  /** Its flags, in words. */
  readonly flags: readonly string[];
  /** Its row. */
  readonly id: number;
  /** Phases of the message inside the bus, if the bus recorded them. */
  readonly in_bus: InBus | null;
  /** The interface. */
  readonly interface: string;
  /** Bytes of it that the recording has. */
  readonly kept: number;
  /** Its type, in words. */
  readonly kind: string;
  /** The method or signal; the name of an error. */
  readonly member: string;
  /** The row of the call that it answers, or of the reply to it. */
  readonly partner: number | null;
  /** The object. */
  readonly path: string;
  /** Phases of the call and its reply, if the bus recorded them. */
  readonly phases: readonly PhaseTime[] | null;
  /** Why its contents are unknown or not to be trusted. */
  readonly problem: string | null;
  /** The serial number of the call that it answers, otherwise 0. */
  readonly reply_serial: number;
  /** Its sender. */
  readonly sender: NamedPeer;
  /** Its serial number. */
  readonly serial: number;
  /** Types of the arguments. */
  readonly signature: string;
  /** Bytes on the wire. */
  readonly size: number;
  /** All types in the arguments. */
  readonly types: TypeTable;
  /** File descriptors that it carried. */
  readonly unix_fds: number;
}

/** When a message was captured. */
export interface MessageTime {
  /** Nanoseconds since the first message of the recording. */
  readonly since_start_ns: number;
  /** Nanoseconds since 1970, as digits. */
  readonly wall_ns: string;
}

/** The JSON of a frame with messages. Rows, strings and peers are numbered from 0 over all frames. */
export interface MessagesHead {
  /**
   * Time of the first message of this frame, in nanoseconds since the first message of the
   * recording, if the column `step` is present.
   */
  readonly at?: number;
  /** All buses of the recording. */
  readonly buses: readonly Bus[];
  /** Messages of this frame. */
  readonly count: number;
  /** Files that the recording was read from. */
  readonly files: readonly string[];
  /** Row of the first message of this frame. */
  readonly first: number;
  /** Index of the first of `strings`. */
  readonly first_string: number;
  /** Times that do not fit into 32 bits: the column, the row within this frame, and nanoseconds. */
  readonly long?: readonly (readonly [ColumnName, number, number])[];
  /** Connections that are new or have changed. */
  readonly peers: readonly Peer[];
  /** Time of the first message of the recording: nanoseconds since 1970, as digits. */
  readonly start_ns: string;
  /** Texts that were not sent before. */
  readonly strings: readonly string[];
  /** Messages that the recording has by now. */
  readonly total: number;
}

/** A method of an interface. */
export interface Method {
  /** Annotations of the method. */
  readonly annotations: readonly Annotation[];
  /** The arguments of a call. */
  readonly arguments: readonly Argument[];
  /** Its documentation, if the data contains any. */
  readonly documentation?: string;
  /** The name of the method. */
  readonly name: string;
  /** The arguments of the reply. */
  readonly results: readonly Argument[];
}

/** A point in the start of a service. */
export interface Milestone {
  /** The time. */
  readonly at: number;
  /** The row of the message that shows it. */
  readonly message: number | null;
  /** What happened, in words. */
  readonly what: string;
}

/** A name on a bus: a unique name, a well-known name with an owner, or an activatable name. */
export interface Name {
  /** Why the owner or its process is unknown. */
  readonly failure?: Failure;
  /** True if the bus can start a service that owns the name. */
  readonly is_activatable: boolean;
  /** The unique or well-known name. */
  readonly name: string;
  /**
   * The unique name of the owner; a unique name owns itself. `None` for an activatable name
   * without an owner, and for the bus, which has no connection.
   */
  readonly owner?: string;
  /** The process of the owner. */
  readonly who?: NameOwner;
}

/** The process that owns a name. */
export interface NameOwner {
  /** The control group of the process. */
  readonly cgroup?: string;
  /** The short name that the kernel keeps, `comm`. */
  readonly comm?: string;
  /** The arguments of its command line, with the program first. */
  readonly command?: readonly string[];
  /** The path of its executable. */
  readonly exe?: string;
  /** The group IDs of the process. */
  readonly groups?: readonly number[];
  /** The label of the process in the Linux security module. */
  readonly label?: string;
  /** The process ID of the process. */
  readonly pid?: number;
  /** When the process was started. */
  readonly started?: Time;
  /** The user ID that it runs as. */
  readonly uid?: number;
  /** The systemd unit of the process. */
  readonly unit?: string;
  /** The name of the user that the process runs as. */
  readonly user?: string;
}

/** A name in a message, and the connection that had it at that time. */
export interface NamedPeer {
  /** What the page calls the connection. */
  readonly label: string | null;
  /** The name as the message has it. */
  readonly name: string;
  /** The connection. */
  readonly peer: number | null;
}

/** An interface of an object, with property values. */
export interface ObjectInterface {
  /** The annotations of the interface. */
  readonly annotations: readonly Annotation[];
  /** The documentation of the interface, from its introspection data. */
  readonly documentation?: string;
  /** Why `GetAll` failed. In this case, each property was read on its own. */
  readonly failure?: Failure;
  /** The methods of the interface. */
  readonly methods: readonly Method[];
  /** The name of the interface. */
  readonly name: string;
  /** The properties of the interface, with their values. */
  readonly properties: readonly ObjectProperty[];
  /** The signals of the interface. */
  readonly signals: readonly Signal[];
  /** Properties that `GetAll` returned but the introspection data lacks. */
  readonly undescribed?: { readonly [key: string]: TypedValue };
}

/** A property with its value. */
export interface ObjectProperty {
  /** Whether the property can be read and set. */
  readonly access: Access;
  /** Annotations of the property. */
  readonly annotations: readonly Annotation[];
  /** Its documentation, if the data contains any. */
  readonly documentation?: string;
  /** How the object announces changes. */
  readonly emits_change: EmitsChange;
  readonly failure?: Failure;
  /** The name of the property. */
  readonly name: string;
  /** The signature of the property. */
  readonly type: string;
  readonly value?: TypedValue;
}

/** The number of messages that are left out because they are from or to the recorder. */
export type OfRecorder = number;

/** A text that a query can continue with. */
export interface Offer {
  /** What it means, in a few words; empty if that is obvious. */
  readonly about: string;
  /** The text. */
  readonly text: string;
}

/** What the page shows. */
export type PageMode = "recording" | "live" | "embedded";

/** A connection. Times are nanoseconds since the first message. */
export interface Peer {
  /** When it connected, if that was recorded. */
  readonly arrived: number | null;
  /** Its bus, as an index. */
  readonly bus: number;
  /** Its number in this recording. */
  readonly id: number;
  /** A well-known name, or the program with the unique name, or only the unique name. */
  readonly label: string;
  /** When it disconnected, if that was recorded. */
  readonly left: number | null;
  /** Well-known names that it has owned. */
  readonly names: readonly string[];
  /** The process that has the connection, if it is known. */
  readonly process: Process | null;
  /** Whether it exists to make the recording. */
  readonly recorder: boolean;
  /** Its unique name. */
  readonly unique: string;
  /** Why the bus disconnected it. */
  readonly why: string | null;
}

/** How long one phase took. */
export interface PhaseTime {
  /** Nanoseconds. */
  readonly ns: number;
  /** The phase, in words. */
  readonly phase: string;
}

/** A process that has a connection. Facts that are unknown are `None`. */
export interface Process {
  /** Words of the command line. */
  readonly command: readonly string[];
  /** Path of the executable. */
  readonly exe: string | null;
  /** Process id. */
  readonly pid: number | null;
  /** The usual name of the program. */
  readonly program: string | null;
  /** User id. */
  readonly uid: number | null;
  /** The systemd unit. */
  readonly unit: string | null;
}

/** The result of reading a text. */
export type ReadText =
  | { readonly arguments: readonly Json[] }
  | { readonly problem: { readonly column: number | null; readonly sentence: string } };

/** What the page gets: an answer with all types that it mentions, or why there is none. */
export type ReplyBusAnswer = { readonly answer: BusAnswer; readonly types: TypeTable } | { readonly failure: string };

/** What the page gets: an answer with all types that it mentions, or why there is none. */
export type ReplyWatchEvent = { readonly answer: WatchEvent; readonly types: TypeTable } | { readonly failure: string };

/** A rule of the linter, with the texts of `diligence lint --explain`. */
export interface Rule {
  /** What to do about a finding. */
  readonly advice: string;
  /** Its number: `L07`. */
  readonly id: string;
  /** What a finding means. */
  readonly meaning: string;
  /** What a recording must have for it, in words. */
  readonly needs: string;
  /** What decides how bad a finding is, in words: `by cost`. */
  readonly severity: string;
  /** The limits that it applies, with their sources. */
  readonly thresholds: readonly string[];
  /** Its title. */
  readonly title: string;
}

/** A file with messages. */
export interface SaveAnswer {
  /** How many messages the file has. */
  readonly messages: number;
}

/** Which messages are selected. */
export interface SelectAnswer {
  /** How many messages are selected. */
  readonly count: number;
  /** Why the query selects no message, as a sentence. */
  readonly note: string | null;
  /** A sentence about hidden messages of the recorder. */
  readonly recorder: string | null;
  /** How many messages the query could select. */
  readonly total: number;
}

/** How bad something is. `Cost::severity` measures it. */
export type Severity = "info" | "low" | "med" | "high";

/** A signal of an interface. */
export interface Signal {
  /** Annotations of the signal. */
  readonly annotations: readonly Annotation[];
  /** The arguments of the signal. */
  readonly arguments: readonly Argument[];
  /** Its documentation, if the data contains any. */
  readonly documentation?: string;
  /** The name of the signal. */
  readonly name: string;
}

/** How a service started. Times are nanoseconds since the first message. */
export interface StartUp {
  /** What is known about the start, in the order of time. */
  readonly milestones: readonly Milestone[];
  /** The first well-known name that it owned. */
  readonly name: string;
  /** What the service did and waited for until it was up. */
  readonly path: readonly Step[];
  /** Its connection. */
  readonly peer: number;
}

/** A table of statistics. */
export interface StatisticsAnswer {
  /** What the table shows, in words. */
  readonly about: string;
  /** The name of the table. */
  readonly subject: string;
  /** The table. */
  readonly table: TableData;
}

/** A stretch of time in the start of a service. */
export interface Step {
  /** How many calls it is nested in. */
  readonly depth: number;
  /** Its begin. */
  readonly from: number;
  /** The connection that worked, or the row of the call that was waited for. */
  readonly id: number;
  /** Its end. */
  readonly to: number;
  /** What happened. */
  readonly what: StepKind;
}

/** What happened in a stretch of time. */
export type StepKind = "works" | "waits";

/** The whole of a recording, or of what a query selects of it, in a few numbers. */
export interface Summary {
  /**
   * How often the clock was set back in the whole recording: see
   * `clock_set_back`(Capture::clock_set_back).
   */
  readonly backward: number;
  /** Bytes that they had, whatever was kept. */
  readonly bytes: number;
  /** Calls that the bus answered with an error because the callee had left. */
  readonly callee_left: number;
  /** Of these, calls whose callers left. */
  readonly caller_left: number;
  /** Calls. */
  readonly calls: number;
  /** Calls whose destination is unknown, because the capture cut headers. */
  readonly calls_to_unknown: number;
  /** Messages of which a part was not kept. */
  readonly cut: number;
  /** Calls of the bus itself. */
  readonly driver_calls: number;
  /** Messages to or from the bus itself. */
  readonly driver_messages: number;
  /** Errors. */
  readonly errors: number;
  /** Of these, messages of whose header a part was not kept. */
  readonly headers_cut: number;
  /** Messages that break a rule of the specification. */
  readonly invalid: number;
  /** Replies that came after a time-out, or after the caller had left. */
  readonly late: number;
  /** All messages. */
  readonly messages: number;
  /** Replies to no recorded call. */
  readonly orphans: number;
  /** Messages of which it is crossed out what they say. */
  readonly redacted: number;
  /** Returns. */
  readonly returns: number;
  /** Signals. */
  readonly signals: number;
  /** From the first to the last, by the clock. */
  readonly span_ns: number;
  /** Calls that the bus answered with an error because the callee had not replied in time. */
  readonly time_outs: number;
  /** Calls whose callers left before a reply, or were waiting when the recording ended. */
  readonly unanswered: number;
  /** Errors of the bus about messages other than calls, which it could not deliver: late replies mostly. */
  readonly undelivered: number;
  /** Messages of other types, or that are too broken to say. */
  readonly unknown: number;
  /** Replies whose call is unknown, because the capture cut headers. */
  readonly unknown_call: number;
  /** Calls whose outcome is unknown, because the capture cut messages. */
  readonly unknown_outcome: number;
  /** Of these, calls whose callers were waiting when the recording ended. */
  readonly waiting: number;
}

/** Totals of a selection. */
export interface SummaryAnswer {
  /** What limits the meaning of the totals, in sentences. */
  readonly caveats: readonly string[];
  /** Why the recording ended, in words; one entry for each of its parts. */
  readonly ended: readonly string[];
  /** The totals. */
  readonly summary: Summary;
}

/** When processes ran. */
export interface SwitchesAnswer {
  /** Whether the recording knows when processes ran. */
  readonly is_recorded: boolean;
}

/** A column of a table. */
export interface TableColumn {
  /** Its name in the JSON that commands print. */
  readonly key: string;
  /** Its title. */
  readonly name: string;
  /** What its numbers mean. */
  readonly unit: Unit;
}

/** A table. Times are in nanoseconds, shares from 0 to 1. */
export interface TableData {
  /** The columns. */
  readonly columns: readonly TableColumn[];
  /** What limits the meaning of the numbers, in sentences. */
  readonly notes: readonly string[];
  /** The rows, each with one cell for each column. */
  readonly rows: readonly (readonly Cell[])[];
}

/** A point in time: nanoseconds since 1970 by the clock of the recording machine. */
export type Time = number;

/** Where time went. */
export interface TimelineAnswer {
  /** Which callers waited for which services. */
  readonly blocked: TableData;
  /** Services that did not start. */
  readonly failed_starts: TableData;
  /** What share of calls the bus took; `None` if it is unknown. */
  readonly shares: TableData | null;
  /** The slowest calls. */
  readonly slowest: TableData;
  /** How services started. */
  readonly start_ups: readonly StartUp[];
}

/** The objects of a service, from the introspection data of each parent. */
export interface Tree {
  /** The number of objects that were omitted because of the limit on nodes. */
  readonly left_out: number;
  /** The objects. Each comes before its children, which are sorted by name. */
  readonly nodes: readonly TreeNode[];
  /** The bus name of the service. */
  readonly service: string;
  /** Nanoseconds that the requests took. */
  readonly took_ns: number;
}

/** An object of a service. */
export interface TreeNode {
  readonly failure?: Failure;
  readonly interfaces?: readonly string[];
  /**
   * The path of the object. If the failure is an `InspectorFailure::Name`, this is an invalid
   * path from the introspection data of its parent.
   */
  readonly path: string;
}

/** What a type consists of. */
export type TypeShape =
  | { readonly code: BasicCode; readonly kind: "basic" }
  | { readonly kind: "variant" }
  | { readonly kind: "bytes" }
  | { readonly element: ValueType; readonly kind: "array" }
  | { readonly key: ValueType; readonly kind: "dictionary"; readonly value: ValueType }
  | { readonly fields: readonly ValueType[]; readonly kind: "structure" };

/** All types that an answer mentions, by their signatures. */
export type TypeTable = { readonly [key: string]: ValueType };

/** A value with its type. */
export interface TypedValue {
  readonly data: Json;
  readonly type: string;
}

/** The units of cells. */
export type Unit = "text" | "count" | "bytes" | "time" | "share" | "rate" | "mean";

/** A value with its type. */
export type Value = { readonly name?: string; readonly type: string } & ({ readonly text: string } | { readonly bytes: string } | { readonly inside: Value } | { readonly items: readonly Value[]; readonly more?: number } | { readonly entries: readonly (readonly [Value, Value])[]; readonly more?: number });

/**
 * A type. Arrays of bytes and dictionaries are kinds of their own, because the page shows and edits
 * them differently from other arrays.
 */
export interface ValueType {
  /** What the type consists of. */
  readonly shape: TypeShape;
  /** The type as a signature. */
  readonly signature: string;
  /** The type in words. */
  readonly words: string;
}

/** An event. */
export type WatchEvent =
  | { readonly begun: Watched }
  | { readonly unwatched: { readonly failure: Failure; readonly what: WatchKind } }
  | { readonly heard: { readonly of: WatchKind; readonly what: Heard } };

/** What one match rule is about, as the page knows it. */
export type WatchKind = "names" | "objects" | "object";

/** What is watched: names always, the objects of `service`, and the signals of the object at `path`. */
export interface Watched {
  /** The path of one of its objects. */
  readonly path: string | null;
  /** A name of a service. */
  readonly service: string | null;
}

/** How many messages there are without each part of a selection; `None` for parts that are absent. */
export interface WithoutAnswer {
  /** Without hidden connections. */
  readonly hidden: number | null;
  /** Without the query. */
  readonly query: number | null;
  /** Without the stretch of time. */
  readonly time: number | null;
}

/** Controls whether a service may ask the user to authorize a call, for example through polkit. */
export type Authorization = "silent" | "interactive";

/** A request for the bus. */
export type BusRequest =
  | { readonly do: "names" }
  | { readonly do: "name"; readonly name: string }
  | { readonly do: "tree"; readonly service: string }
  | { readonly do: "object"; readonly path: string; readonly service: string }
  | { readonly do: "get"; readonly property: PropertyName }
  | { readonly do: "set"; readonly manner?: Manner | undefined; readonly property: PropertyName; readonly signature?: string | null | undefined; readonly value: Json }
  | { readonly call: Call; readonly do: "call"; readonly manner?: Manner | undefined }
  | { readonly do: "read"; readonly signature: string; readonly text: string }
  | { readonly arguments: readonly Json[]; readonly do: "write"; readonly signature: string }
  | { readonly call: Call; readonly do: "commands" }
  | { readonly do: "types"; readonly signature: string };

/** A method call with its arguments in JSON. */
export interface Call {
  /** The arguments in JSON (`json`(crate::json)). */
  readonly arguments?: readonly Json[] | undefined;
  /** The interface of the method. Without one, the object chooses the interface. */
  readonly interface?: string | null | undefined;
  /** The name of the method. */
  readonly method: string;
  /** The path of the object. */
  readonly path: string;
  /** The bus name of the service. */
  readonly service: string;
  /** The signature of the arguments. Without it, the object is introspected first. */
  readonly signature?: string | null | undefined;
}

/** A file format in which messages can be saved. */
export type FileFormat = "pcapng" | "pcap";

/** How a method is method: its timeout and its message flags. */
export interface Manner {
  /** Controls whether the service may ask the user for authorization. */
  readonly authorization?: Authorization | undefined;
  /** Controls whether the caller waits for a reply. */
  readonly reply?: Reply | undefined;
  /** Controls whether the bus may start the service. */
  readonly starting?: Starting | undefined;
  /** The timeout for the reply, in milliseconds. */
  readonly timeout_ms?: number | undefined;
}

/** A property of an object. */
export interface PropertyName {
  /** The interface of the property. */
  readonly interface: string;
  /** The path of the object. */
  readonly path: string;
  /** The name of the property. */
  readonly property: string;
  /** The bus name of the service. */
  readonly service: string;
}

/** A question about a recording. Messages are numbered by their rows, from 0. */
export type Question =
  | { readonly ask: "select"; readonly from?: number | null | undefined; readonly hidden?: readonly number[] | undefined; readonly query?: string | undefined; readonly until?: number | null | undefined }
  | { readonly ask: "without"; readonly from?: number | null | undefined; readonly hidden?: readonly number[] | undefined; readonly query?: string | undefined; readonly until?: number | null | undefined }
  | { readonly ask: "complete"; readonly cursor: number; readonly query: string }
  | { readonly ask: "message"; readonly id: number }
  | { readonly ask: "summary"; readonly from?: number | null | undefined; readonly hidden?: readonly number[] | undefined; readonly query?: string | undefined; readonly until?: number | null | undefined }
  | { readonly ask: "statistics"; readonly from?: number | null | undefined; readonly hidden?: readonly number[] | undefined; readonly query?: string | undefined; readonly subject: string; readonly until?: number | null | undefined }
  | { readonly ask: "findings" }
  | { readonly ask: "ending" }
  | { readonly ask: "timeline"; readonly from?: number | null | undefined; readonly hidden?: readonly number[] | undefined; readonly query?: string | undefined; readonly until?: number | null | undefined }
  | { readonly ask: "save"; readonly format: FileFormat; readonly from?: number | null | undefined; readonly hidden?: readonly number[] | undefined; readonly query?: string | undefined; readonly until?: number | null | undefined }
  | { readonly ask: "switches"; readonly finest?: number | undefined; readonly from?: number | null | undefined; readonly until?: number | null | undefined }
  | { readonly after: readonly number[]; readonly ask: "compare"; readonly before: readonly number[]; readonly from?: number | null | undefined; readonly hidden?: readonly number[] | undefined; readonly query?: string | undefined; readonly until?: number | null | undefined };

/** Controls whether a call expects a reply. */
export type Reply = "expected" | "unwanted";

/**
 * Which messages are meant: those that a query selects, of a stretch of time, in which nobody is
 * involved who is hidden. The `Default` means all that the programs did.
 */
export interface Selection {
  /** Nanoseconds since the first message, from which on messages are meant. */
  readonly from?: number | null | undefined;
  /**
   * Places of connections in the recording. A message that one of them sends, or is addressed to,
   * is not meant; nor is a reply of which that is so.
   */
  readonly hidden?: readonly number[] | undefined;
  /** A query, in the language of all commands. */
  readonly query?: string | undefined;
  /** Nanoseconds since the first message, before which messages are meant. */
  readonly until?: number | null | undefined;
}

/** Controls whether the bus may start a service that does not run. */
export type Starting = "never" | "allowed";

/** The types that the page gets, and checks. */
export interface Checked {
  readonly FrameHead: FrameHead;
  readonly ColumnHead: ColumnHead;
  readonly About: About;
  readonly ReplyBusAnswer: ReplyBusAnswer;
  readonly ReplyWatchEvent: ReplyWatchEvent;
}

/** The schemas of these types, and of all types that they mention. */
export const SCHEMAS: Readonly<Record<string, Schema>> = {
  About: {"properties":{"redacted":{"type":"boolean"},"title":{"type":"string"}},"required":["title","redacted"],"type":"object"},
  Access: {"enum":["read","write","read-write"]},
  Annotation: {"properties":{"name":{"type":"string"},"value":{"type":"string"}},"required":["name","value"],"type":"object"},
  AnswerBody: {"oneOf":[{"additionalProperties":false,"properties":{"select":{"$ref":"#/$defs/SelectAnswer"}},"required":["select"],"type":"object"},{"additionalProperties":false,"properties":{"without":{"$ref":"#/$defs/WithoutAnswer"}},"required":["without"],"type":"object"},{"additionalProperties":false,"properties":{"complete":{"$ref":"#/$defs/Completions"}},"required":["complete"],"type":"object"},{"additionalProperties":false,"properties":{"message":{"$ref":"#/$defs/MessageDetails"}},"required":["message"],"type":"object"},{"additionalProperties":false,"properties":{"summary":{"$ref":"#/$defs/SummaryAnswer"}},"required":["summary"],"type":"object"},{"additionalProperties":false,"properties":{"statistics":{"$ref":"#/$defs/StatisticsAnswer"}},"required":["statistics"],"type":"object"},{"additionalProperties":false,"properties":{"findings":{"$ref":"#/$defs/FindingsAnswer"}},"required":["findings"],"type":"object"},{"additionalProperties":false,"properties":{"ending":{"$ref":"#/$defs/EndingAnswer"}},"required":["ending"],"type":"object"},{"additionalProperties":false,"properties":{"timeline":{"$ref":"#/$defs/TimelineAnswer"}},"required":["timeline"],"type":"object"},{"additionalProperties":false,"properties":{"save":{"$ref":"#/$defs/SaveAnswer"}},"required":["save"],"type":"object"},{"additionalProperties":false,"properties":{"switches":{"$ref":"#/$defs/SwitchesAnswer"}},"required":["switches"],"type":"object"},{"additionalProperties":false,"properties":{"compare":{"$ref":"#/$defs/CompareAnswer"}},"required":["compare"],"type":"object"}]},
  Argument: {"properties":{"annotations":{"items":{"$ref":"#/$defs/Annotation"},"type":"array"},"name":{"type":["string","null"]},"type":{"type":"string"}},"required":["name","type"],"type":"object"},
  BasicCode: {"enum":["y","b","n","q","i","u","x","t","d","s","o","g","h"]},
  Bus: {"properties":{"address":{"type":["string","null"]},"file":{"minimum":0,"type":"integer"},"label":{"type":"string"},"method":{"$ref":"#/$defs/CaptureMethod"},"redacted":{"type":"boolean"}},"required":["label","address","method","redacted","file"],"type":"object"},
  BusAnswer: {"oneOf":[{"additionalProperties":false,"properties":{"names":{"items":{"$ref":"#/$defs/Name"},"type":"array"}},"required":["names"],"type":"object"},{"additionalProperties":false,"properties":{"name":{"anyOf":[{"$ref":"#/$defs/Name"},{"type":"null"}]}},"required":["name"],"type":"object"},{"additionalProperties":false,"properties":{"tree":{"$ref":"#/$defs/Tree"}},"required":["tree"],"type":"object"},{"additionalProperties":false,"properties":{"object":{"$ref":"#/$defs/BusObject"}},"required":["object"],"type":"object"},{"additionalProperties":false,"properties":{"get":{"$ref":"#/$defs/CallAnswer"}},"required":["get"],"type":"object"},{"additionalProperties":false,"properties":{"set":{"$ref":"#/$defs/CallAnswer"}},"required":["set"],"type":"object"},{"additionalProperties":false,"properties":{"call":{"$ref":"#/$defs/CallAnswer"}},"required":["call"],"type":"object"},{"additionalProperties":false,"properties":{"read":{"$ref":"#/$defs/ReadText"}},"required":["read"],"type":"object"},{"additionalProperties":false,"properties":{"write":{"type":"string"}},"required":["write"],"type":"object"},{"additionalProperties":false,"properties":{"commands":{"$ref":"#/$defs/CallCommands"}},"required":["commands"],"type":"object"},{"additionalProperties":false,"properties":{"types":{"items":{"$ref":"#/$defs/ValueType"},"type":["array","null"]}},"required":["types"],"type":"object"}]},
  BusObject: {"properties":{"children":{"items":{"type":"string"},"type":"array"},"interfaces":{"items":{"$ref":"#/$defs/ObjectInterface"},"type":"array"},"path":{"type":"string"},"service":{"type":"string"},"took_ns":{"minimum":0,"type":"integer"}},"required":["service","path","interfaces","children","took_ns"],"type":"object"},
  CallAnswer: {"properties":{"failed":{"$ref":"#/$defs/Failure"},"returned":{"properties":{"descriptors":{"items":{"$ref":"#/$defs/Descriptor"},"type":"array"},"results":{"items":{"$ref":"#/$defs/TypedValue"},"type":"array"},"sender":{"type":"string"}},"required":["sender","results","descriptors"],"type":"object"},"sent":{"type":"object"},"took_ns":{"minimum":0,"type":"integer"}},"required":["took_ns"],"type":"object"},
  CallCommands: {"properties":{"busctl":{"type":"string"},"gdbus":{"type":"string"}},"required":["busctl","gdbus"],"type":"object"},
  CaptureMethod: {"enum":["unknown","trace","monitor","eavesdrop"]},
  Cell: {"type":["string","number","null"]},
  ColumnHead: {"properties":{"length":{"minimum":0,"type":"integer"},"name":{"$ref":"#/$defs/ColumnName"},"type":{"$ref":"#/$defs/ColumnType"},"value":{"minimum":0,"type":"integer"}},"required":["name","type","length"],"type":"object"},
  ColumnName: {"enum":["step","at","kind","flags","health","bus","from","to","destination","path","interface","member","answers","size","routed","delivered","copies","recipients","selected","file","peer","until","on"]},
  ColumnType: {"enum":["u8","u32","f64","i8","i16","same"]},
  CommandText: {"anyOf":[{"properties":{"name":{"type":"string"},"text":{"type":"string"}},"required":["name","text"],"type":"object"},{"properties":{"name":{"type":"string"},"why":{"type":"string"}},"required":["name","why"],"type":"object"}]},
  CompareAnswer: {"properties":{"members":{"prefixItems":[{"minimum":0,"type":"integer"},{"minimum":0,"type":"integer"}],"type":"array"},"table":{"$ref":"#/$defs/TableData"}},"required":["members","table"],"type":"object"},
  Completions: {"properties":{"from":{"minimum":0,"type":"integer"},"offers":{"items":{"$ref":"#/$defs/Offer"},"type":"array"},"to":{"minimum":0,"type":"integer"}},"required":["from","to","offers"],"type":"object"},
  Confidence: {"enum":["low","medium","high"]},
  CopyEntry: {"properties":{"begun_after_ns":{"minimum":0,"type":["integer","null"]},"recipient":{"type":"string"},"rules":{"minimum":0,"type":"integer"},"written_after_ns":{"minimum":0,"type":["integer","null"]}},"required":["recipient","begun_after_ns","written_after_ns","rules"],"type":"object"},
  Cost: {"properties":{"bytes":{"minimum":0,"type":"integer"},"calls":{"minimum":0,"type":"integer"},"longest_wait_ns":{"minimum":0,"type":"integer"},"waited_ns":{"minimum":0,"type":"integer"},"waits":{"minimum":0,"type":"integer"},"wake_ups":{"minimum":0,"type":"integer"}},"required":["waited_ns","waits","longest_wait_ns","calls","wake_ups","bytes"],"type":"object"},
  Descriptor: {"properties":{"what":{"type":"string"}},"required":["what"],"type":"object"},
  EmitsChange: {"enum":["value","invalidates","const","no"]},
  EndingAnswer: {"properties":{"incomplete":{"items":{"type":"string"},"type":"array"}},"required":["incomplete"],"type":"object"},
  Evidence: {"properties":{"count":{"minimum":0,"type":"integer"},"first":{"items":{"minimum":0,"type":"integer"},"type":"array"}},"required":["first","count"],"type":"object"},
  Failure: {"properties":{"argument":{"minimum":0,"type":"integer"},"kind":{"type":"string"},"message":{"type":"string"},"name":{"type":"string"},"sentence":{"type":"string"}},"required":["kind","sentence"],"type":"object"},
  Finding: {"properties":{"advice":{"type":"string"},"check":{"type":"string"},"confidence":{"$ref":"#/$defs/Confidence"},"cost":{"$ref":"#/$defs/Cost"},"cost_ns":{"minimum":0,"type":"integer"},"evidence":{"$ref":"#/$defs/Evidence"},"query":{"type":"string"},"rule":{"type":"string"},"says":{"type":"string"},"severity":{"$ref":"#/$defs/Severity"},"subject":{"type":"string"},"title":{"type":"string"},"who":{"$ref":"#/$defs/FindingParty"}},"required":["title","advice","rule","severity","confidence","who","subject","says","cost","evidence","query","cost_ns"],"type":"object"},
  FindingParty: {"properties":{"label":{"type":"string"},"process":{"type":"string"},"stable":{"type":"string"},"unit":{"type":"string"}},"required":["label","stable"],"type":"object"},
  FindingsAnswer: {"properties":{"connections":{"minimum":0,"type":"integer"},"findings":{"items":{"$ref":"#/$defs/Finding"},"type":"array"},"known":{"minimum":0,"type":"integer"},"messages":{"minimum":0,"type":"integer"},"recorder_messages":{"$ref":"#/$defs/OfRecorder"},"rules":{"items":{"$ref":"#/$defs/Rule"},"type":"array"},"span_ns":{"minimum":0,"type":"integer"}},"required":["messages","recorder_messages","span_ns","connections","known","findings","rules"],"type":"object"},
  FrameHead: {"oneOf":[{"$ref":"#/$defs/HelloHead","properties":{"kind":{"const":"hello","type":"string"}},"required":["kind"],"type":"object"},{"$ref":"#/$defs/MessagesHead","properties":{"kind":{"const":"messages","type":"string"}},"required":["kind"],"type":"object"},{"properties":{"disconnected":{"minimum":0,"type":"integer"},"kind":{"const":"missing","type":"string"},"overrun":{"minimum":0,"type":"integer"}},"required":["kind","overrun","disconnected"],"type":"object"},{"properties":{"before":{"minimum":0,"type":"integer"},"kind":{"const":"reset","type":"string"}},"required":["kind","before"],"type":"object"},{"properties":{"kind":{"const":"end","type":"string"},"why":{"type":["string","null"]}},"required":["kind","why"],"type":"object"},{"properties":{"answer":{"$ref":"#/$defs/AnswerBody"},"kind":{"const":"answer","type":"string"}},"required":["kind","answer"],"type":"object"},{"properties":{"column":{"minimum":0,"type":"integer"},"kind":{"const":"refusal","type":"string"},"message":{"type":"string"},"unfinished":{"type":"boolean"}},"required":["kind","message"],"type":"object"},{"properties":{"before":{"minimum":0,"type":"integer"},"kind":{"const":"moved","type":"string"}},"required":["kind","before"],"type":"object"}]},
  Heard: {"oneOf":[{"additionalProperties":false,"properties":{"signal":{"$ref":"#/$defs/HeardSignal"}},"required":["signal"],"type":"object"},{"additionalProperties":false,"properties":{"lost":{"properties":{"count":{"minimum":0,"type":"integer"}},"required":["count"],"type":"object"}},"required":["lost"],"type":"object"}]},
  HeardSignal: {"properties":{"arguments":{"items":{"$ref":"#/$defs/TypedValue"},"type":"array"},"at_us":{"minimum":0,"type":"integer"},"descriptors":{"items":{"$ref":"#/$defs/Descriptor"},"type":"array"},"failure":{"$ref":"#/$defs/Failure"},"interface":{"type":"string"},"member":{"type":"string"},"path":{"type":"string"},"sender":{"type":"string"}},"required":["at_us","sender","path","interface","member"],"type":"object"},
  HelloHead: {"properties":{"calls":{"type":"boolean"},"mode":{"$ref":"#/$defs/PageMode"},"objects":{"type":"boolean"},"program":{"type":"string"},"title":{"type":"string"},"version":{"minimum":0,"type":"integer"}},"required":["version","program","title","mode","objects","calls"],"type":"object"},
  InBus: {"properties":{"phases":{"items":{"$ref":"#/$defs/PhaseTime"},"type":"array"},"routed_after_ns":{"minimum":0,"type":"integer"},"total_ns":{"minimum":0,"type":["integer","null"]}},"required":["phases","routed_after_ns","total_ns"],"type":"object"},
  MessageDetails: {"properties":{"arguments":{"items":{"$ref":"#/$defs/Value"},"type":"array"},"at":{"$ref":"#/$defs/MessageTime"},"bus":{"type":"string"},"commands":{"items":{"$ref":"#/$defs/CommandText"},"type":"array"},"deliveries":{"items":{"$ref":"#/$defs/CopyEntry"},"type":["array","null"]},"destination":{"$ref":"#/$defs/NamedPeer"},"duration_ns":{"minimum":0,"type":["integer","null"]},"flags":{"items":{"type":"string"},"type":"array"},"id":{"minimum":0,"type":"integer"},"in_bus":{"anyOf":[{"$ref":"#/$defs/InBus"},{"type":"null"}]},"interface":{"type":"string"},"kept":{"minimum":0,"type":"integer"},"kind":{"type":"string"},"member":{"type":"string"},"partner":{"minimum":0,"type":["integer","null"]},"path":{"type":"string"},"phases":{"items":{"$ref":"#/$defs/PhaseTime"},"type":["array","null"]},"problem":{"type":["string","null"]},"reply_serial":{"minimum":0,"type":"integer"},"sender":{"$ref":"#/$defs/NamedPeer"},"serial":{"minimum":0,"type":"integer"},"signature":{"type":"string"},"size":{"minimum":0,"type":"integer"},"types":{"$ref":"#/$defs/TypeTable"},"unix_fds":{"minimum":0,"type":"integer"}},"required":["id","kind","serial","reply_serial","flags","at","bus","sender","destination","path","interface","member","signature","size","kept","unix_fds","problem","arguments","types","partner","duration_ns","phases","in_bus","deliveries","commands"],"type":"object"},
  MessageTime: {"properties":{"since_start_ns":{"type":"integer"},"wall_ns":{"type":"string"}},"required":["wall_ns","since_start_ns"],"type":"object"},
  MessagesHead: {"properties":{"at":{"type":"number"},"buses":{"items":{"$ref":"#/$defs/Bus"},"type":"array"},"count":{"minimum":0,"type":"integer"},"files":{"items":{"type":"string"},"type":"array"},"first":{"minimum":0,"type":"integer"},"first_string":{"minimum":0,"type":"integer"},"long":{"items":{"prefixItems":[{"$ref":"#/$defs/ColumnName"},{"minimum":0,"type":"integer"},{"minimum":0,"type":"integer"}],"type":"array"},"type":"array"},"peers":{"items":{"$ref":"#/$defs/Peer"},"type":"array"},"start_ns":{"type":"string"},"strings":{"items":{"type":"string"},"type":"array"},"total":{"minimum":0,"type":"integer"}},"required":["first","count","total","start_ns","first_string","strings","peers","files","buses"],"type":"object"},
  Method: {"properties":{"annotations":{"items":{"$ref":"#/$defs/Annotation"},"type":"array"},"arguments":{"items":{"$ref":"#/$defs/Argument"},"type":"array"},"documentation":{"type":"string"},"name":{"type":"string"},"results":{"items":{"$ref":"#/$defs/Argument"},"type":"array"}},"required":["name","arguments","results","annotations"],"type":"object"},
  Milestone: {"properties":{"at":{"type":"integer"},"message":{"minimum":0,"type":["integer","null"]},"what":{"type":"string"}},"required":["at","what","message"],"type":"object"},
  Name: {"properties":{"failure":{"$ref":"#/$defs/Failure"},"is_activatable":{"type":"boolean"},"name":{"type":"string"},"owner":{"type":"string"},"who":{"$ref":"#/$defs/NameOwner"}},"required":["name","is_activatable"],"type":"object"},
  NameOwner: {"properties":{"cgroup":{"type":"string"},"comm":{"type":"string"},"command":{"items":{"type":"string"},"type":"array"},"exe":{"type":"string"},"groups":{"items":{"minimum":0,"type":"integer"},"type":"array"},"label":{"type":"string"},"pid":{"minimum":0,"type":"integer"},"started":{"$ref":"#/$defs/Time"},"uid":{"minimum":0,"type":"integer"},"unit":{"type":"string"},"user":{"type":"string"}},"type":"object"},
  NamedPeer: {"properties":{"label":{"type":["string","null"]},"name":{"type":"string"},"peer":{"minimum":0,"type":["integer","null"]}},"required":["name","peer","label"],"type":"object"},
  ObjectInterface: {"properties":{"annotations":{"items":{"$ref":"#/$defs/Annotation"},"type":"array"},"documentation":{"type":"string"},"failure":{"$ref":"#/$defs/Failure"},"methods":{"items":{"$ref":"#/$defs/Method"},"type":"array"},"name":{"type":"string"},"properties":{"items":{"$ref":"#/$defs/ObjectProperty"},"type":"array"},"signals":{"items":{"$ref":"#/$defs/Signal"},"type":"array"},"undescribed":{"additionalProperties":{"$ref":"#/$defs/TypedValue"},"type":"object"}},"required":["name","methods","signals","properties","annotations"],"type":"object"},
  ObjectProperty: {"properties":{"access":{"$ref":"#/$defs/Access"},"annotations":{"items":{"$ref":"#/$defs/Annotation"},"type":"array"},"documentation":{"type":"string"},"emits_change":{"$ref":"#/$defs/EmitsChange"},"failure":{"$ref":"#/$defs/Failure"},"name":{"type":"string"},"type":{"type":"string"},"value":{"$ref":"#/$defs/TypedValue"}},"required":["name","type","access","emits_change","annotations"],"type":"object"},
  OfRecorder: {"minimum":0,"type":"integer"},
  Offer: {"properties":{"about":{"type":"string"},"text":{"type":"string"}},"required":["text","about"],"type":"object"},
  PageMode: {"enum":["recording","live","embedded"]},
  Peer: {"properties":{"arrived":{"type":["integer","null"]},"bus":{"minimum":0,"type":"integer"},"id":{"minimum":0,"type":"integer"},"label":{"type":"string"},"left":{"type":["integer","null"]},"names":{"items":{"type":"string"},"type":"array"},"process":{"anyOf":[{"$ref":"#/$defs/Process"},{"type":"null"}]},"recorder":{"type":"boolean"},"unique":{"type":"string"},"why":{"type":["string","null"]}},"required":["id","bus","unique","names","label","process","arrived","left","why","recorder"],"type":"object"},
  PhaseTime: {"properties":{"ns":{"minimum":0,"type":"integer"},"phase":{"type":"string"}},"required":["phase","ns"],"type":"object"},
  Process: {"properties":{"command":{"items":{"type":"string"},"type":"array"},"exe":{"type":["string","null"]},"pid":{"minimum":0,"type":["integer","null"]},"program":{"type":["string","null"]},"uid":{"minimum":0,"type":["integer","null"]},"unit":{"type":["string","null"]}},"required":["pid","uid","program","exe","command","unit"],"type":"object"},
  ReadText: {"oneOf":[{"additionalProperties":false,"properties":{"arguments":{"items":{},"type":"array"}},"required":["arguments"],"type":"object"},{"additionalProperties":false,"properties":{"problem":{"properties":{"column":{"minimum":0,"type":["integer","null"]},"sentence":{"type":"string"}},"required":["sentence","column"],"type":"object"}},"required":["problem"],"type":"object"}]},
  ReplyBusAnswer: {"anyOf":[{"properties":{"answer":{"$ref":"#/$defs/BusAnswer"},"types":{"$ref":"#/$defs/TypeTable"}},"required":["answer","types"],"type":"object"},{"properties":{"failure":{"type":"string"}},"required":["failure"],"type":"object"}]},
  ReplyWatchEvent: {"anyOf":[{"properties":{"answer":{"$ref":"#/$defs/WatchEvent"},"types":{"$ref":"#/$defs/TypeTable"}},"required":["answer","types"],"type":"object"},{"properties":{"failure":{"type":"string"}},"required":["failure"],"type":"object"}]},
  Rule: {"properties":{"advice":{"type":"string"},"id":{"type":"string"},"meaning":{"type":"string"},"needs":{"type":"string"},"severity":{"type":"string"},"thresholds":{"items":{"type":"string"},"type":"array"},"title":{"type":"string"}},"required":["id","title","severity","needs","meaning","thresholds","advice"],"type":"object"},
  SaveAnswer: {"properties":{"messages":{"minimum":0,"type":"integer"}},"required":["messages"],"type":"object"},
  SelectAnswer: {"properties":{"count":{"minimum":0,"type":"integer"},"note":{"type":["string","null"]},"recorder":{"type":["string","null"]},"total":{"minimum":0,"type":"integer"}},"required":["count","total","recorder","note"],"type":"object"},
  Severity: {"enum":["info","low","med","high"]},
  Signal: {"properties":{"annotations":{"items":{"$ref":"#/$defs/Annotation"},"type":"array"},"arguments":{"items":{"$ref":"#/$defs/Argument"},"type":"array"},"documentation":{"type":"string"},"name":{"type":"string"}},"required":["name","arguments","annotations"],"type":"object"},
  StartUp: {"properties":{"milestones":{"items":{"$ref":"#/$defs/Milestone"},"type":"array"},"name":{"type":"string"},"path":{"items":{"$ref":"#/$defs/Step"},"type":"array"},"peer":{"minimum":0,"type":"integer"}},"required":["peer","name","milestones","path"],"type":"object"},
  StatisticsAnswer: {"properties":{"about":{"type":"string"},"subject":{"type":"string"},"table":{"$ref":"#/$defs/TableData"}},"required":["subject","about","table"],"type":"object"},
  Step: {"properties":{"depth":{"minimum":0,"type":"integer"},"from":{"type":"integer"},"id":{"minimum":0,"type":"integer"},"to":{"type":"integer"},"what":{"$ref":"#/$defs/StepKind"}},"required":["from","to","depth","what","id"],"type":"object"},
  StepKind: {"enum":["works","waits"]},
  Summary: {"properties":{"backward":{"minimum":0,"type":"integer"},"bytes":{"minimum":0,"type":"integer"},"callee_left":{"minimum":0,"type":"integer"},"caller_left":{"minimum":0,"type":"integer"},"calls":{"minimum":0,"type":"integer"},"calls_to_unknown":{"minimum":0,"type":"integer"},"cut":{"minimum":0,"type":"integer"},"driver_calls":{"minimum":0,"type":"integer"},"driver_messages":{"minimum":0,"type":"integer"},"errors":{"minimum":0,"type":"integer"},"headers_cut":{"minimum":0,"type":"integer"},"invalid":{"minimum":0,"type":"integer"},"late":{"minimum":0,"type":"integer"},"messages":{"minimum":0,"type":"integer"},"orphans":{"minimum":0,"type":"integer"},"redacted":{"minimum":0,"type":"integer"},"returns":{"minimum":0,"type":"integer"},"signals":{"minimum":0,"type":"integer"},"span_ns":{"minimum":0,"type":"integer"},"time_outs":{"minimum":0,"type":"integer"},"unanswered":{"minimum":0,"type":"integer"},"undelivered":{"minimum":0,"type":"integer"},"unknown":{"minimum":0,"type":"integer"},"unknown_call":{"minimum":0,"type":"integer"},"unknown_outcome":{"minimum":0,"type":"integer"},"waiting":{"minimum":0,"type":"integer"}},"required":["messages","bytes","span_ns","calls","returns","errors","signals","unknown","driver_calls","calls_to_unknown","driver_messages","unanswered","caller_left","waiting","time_outs","callee_left","unknown_outcome","late","undelivered","orphans","unknown_call","cut","headers_cut","redacted","invalid","backward"],"type":"object"},
  SummaryAnswer: {"properties":{"caveats":{"items":{"type":"string"},"type":"array"},"ended":{"items":{"type":"string"},"type":"array"},"summary":{"$ref":"#/$defs/Summary"}},"required":["summary","caveats","ended"],"type":"object"},
  SwitchesAnswer: {"properties":{"is_recorded":{"type":"boolean"}},"required":["is_recorded"],"type":"object"},
  TableColumn: {"properties":{"key":{"type":"string"},"name":{"type":"string"},"unit":{"$ref":"#/$defs/Unit"}},"required":["name","key","unit"],"type":"object"},
  TableData: {"properties":{"columns":{"items":{"$ref":"#/$defs/TableColumn"},"type":"array"},"notes":{"items":{"type":"string"},"type":"array"},"rows":{"items":{"items":{"$ref":"#/$defs/Cell"},"type":"array"},"type":"array"}},"required":["columns","rows","notes"],"type":"object"},
  Time: {"type":"integer"},
  TimelineAnswer: {"properties":{"blocked":{"$ref":"#/$defs/TableData"},"failed_starts":{"$ref":"#/$defs/TableData"},"shares":{"anyOf":[{"$ref":"#/$defs/TableData"},{"type":"null"}]},"slowest":{"$ref":"#/$defs/TableData"},"start_ups":{"items":{"$ref":"#/$defs/StartUp"},"type":"array"}},"required":["blocked","slowest","shares","failed_starts","start_ups"],"type":"object"},
  Tree: {"properties":{"left_out":{"minimum":0,"type":"integer"},"nodes":{"items":{"$ref":"#/$defs/TreeNode"},"type":"array"},"service":{"type":"string"},"took_ns":{"minimum":0,"type":"integer"}},"required":["service","nodes","left_out","took_ns"],"type":"object"},
  TreeNode: {"properties":{"failure":{"$ref":"#/$defs/Failure"},"interfaces":{"items":{"type":"string"},"type":"array"},"path":{"type":"string"}},"required":["path"],"type":"object"},
  TypeShape: {"oneOf":[{"properties":{"code":{"$ref":"#/$defs/BasicCode"},"kind":{"const":"basic","type":"string"}},"required":["kind","code"],"type":"object"},{"properties":{"kind":{"const":"variant","type":"string"}},"required":["kind"],"type":"object"},{"properties":{"kind":{"const":"bytes","type":"string"}},"required":["kind"],"type":"object"},{"properties":{"element":{"$ref":"#/$defs/ValueType"},"kind":{"const":"array","type":"string"}},"required":["kind","element"],"type":"object"},{"properties":{"key":{"$ref":"#/$defs/ValueType"},"kind":{"const":"dictionary","type":"string"},"value":{"$ref":"#/$defs/ValueType"}},"required":["kind","key","value"],"type":"object"},{"properties":{"fields":{"items":{"$ref":"#/$defs/ValueType"},"type":"array"},"kind":{"const":"structure","type":"string"}},"required":["kind","fields"],"type":"object"}]},
  TypeTable: {"additionalProperties":{"$ref":"#/$defs/ValueType"},"type":"object"},
  TypedValue: {"properties":{"data":{},"type":{"type":"string"}},"required":["type","data"],"type":"object"},
  Unit: {"enum":["text","count","bytes","time","share","rate","mean"]},
  Value: {"anyOf":[{"properties":{"text":{"type":"string"}},"required":["text"],"type":"object"},{"properties":{"bytes":{"type":"string"}},"required":["bytes"],"type":"object"},{"properties":{"inside":{"$ref":"#/$defs/Value"}},"required":["inside"],"type":"object"},{"properties":{"items":{"items":{"$ref":"#/$defs/Value"},"type":"array"},"more":{"minimum":0,"type":"integer"}},"required":["items"],"type":"object"},{"properties":{"entries":{"items":{"prefixItems":[{"$ref":"#/$defs/Value"},{"$ref":"#/$defs/Value"}],"type":"array"},"type":"array"},"more":{"minimum":0,"type":"integer"}},"required":["entries"],"type":"object"}],"properties":{"name":{"type":"string"},"type":{"type":"string"}},"required":["type"],"type":"object"},
  ValueType: {"properties":{"shape":{"$ref":"#/$defs/TypeShape"},"signature":{"type":"string"},"words":{"type":"string"}},"required":["signature","words","shape"],"type":"object"},
  WatchEvent: {"oneOf":[{"additionalProperties":false,"properties":{"begun":{"$ref":"#/$defs/Watched"}},"required":["begun"],"type":"object"},{"additionalProperties":false,"properties":{"unwatched":{"properties":{"failure":{"$ref":"#/$defs/Failure"},"what":{"$ref":"#/$defs/WatchKind"}},"required":["what","failure"],"type":"object"}},"required":["unwatched"],"type":"object"},{"additionalProperties":false,"properties":{"heard":{"properties":{"of":{"$ref":"#/$defs/WatchKind"},"what":{"$ref":"#/$defs/Heard"}},"required":["of","what"],"type":"object"}},"required":["heard"],"type":"object"}]},
  WatchKind: {"enum":["names","objects","object"]},
  Watched: {"properties":{"path":{"type":["string","null"]},"service":{"type":["string","null"]}},"required":["service","path"],"type":"object"},
  WithoutAnswer: {"properties":{"hidden":{"minimum":0,"type":["integer","null"]},"query":{"minimum":0,"type":["integer","null"]},"time":{"minimum":0,"type":["integer","null"]}},"required":["query","hidden","time"],"type":"object"},
};
