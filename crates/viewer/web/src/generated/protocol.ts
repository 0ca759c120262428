// Generated from the types of crates/analyst and crates/viewer. Do not edit: run
// DILIGENCE_BLESS=1 cargo test -p diligence-viewer protocol

import type { Schema } from "../format/check";

/** The version of the format of frames. */
export const VERSION = 3;

/** Any value that JSON can represent. */
export type Json =
  | null
  | boolean
  | number
  | string
  | readonly Json[]
  | { readonly [key: string]: Json };

/** Information for the page about the recording in it. */
export interface About {
  /** True if the contents of messages were removed. */
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
  | { readonly without: CountsWithoutParts }
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

/** The type code of a basic type in signatures. */
export type BasicCode = "y" | "b" | "n" | "q" | "i" | "u" | "x" | "t" | "d" | "s" | "o" | "g" | "h";

/** A bus, and how it was captured. */
export interface Bus {
  /** The address of the bus, if it is known. */
  readonly address: string | null;
  /** The index of the file that it was read from. */
  readonly file: number;
  /** The name of the bus on the page. */
  readonly label: string;
  /** The method by which its messages were captured. */
  readonly method: CaptureMethod;
  /** True if the contents of its messages were redacted. */
  readonly redacted: boolean;
  /** The times at which another program had continued the bus. */
  readonly replacements?: readonly BusReplacement[];
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

/** A replacement of the program of a bus. */
export interface BusReplacement {
  /** Nanoseconds since the first message of the recording, when the bus had continued. */
  readonly at: number;
  /** The version of the program that continues. */
  readonly new: string;
  /** The version of the program before. */
  readonly old: string;
  /** How long the bus paused before that, in nanoseconds. */
  readonly paused_ns: number;
}

/** The result of a call that was sent, with its duration. */
export interface CallAnswer {
  readonly failed?: Failure;
  readonly returned?: { readonly descriptors: readonly Descriptor[]; readonly results: readonly TypedValue[]; readonly sender: string };
  readonly sent?: object;
  /** Nanoseconds from the call to its reply. */
  readonly took_ns: number;
}

/** Shell commands that make a call. */
export interface CallCommands {
  /** The command line for busctl. */
  readonly busctl: string;
  /** The command line for gdbus. */
  readonly gdbus: string;
}

/** The method by which messages of a bus were captured. It determines what a recording can show. */
export type CaptureMethod = "unknown" | "trace" | "monitor" | "eavesdrop";

/** A cell of a table; null if the value is unknown or absent. */
export type Cell = string | number | null;

/** The description of a column in the JSON of a frame. */
export interface ColumnHead {
  /** The number of numbers in the column. */
  readonly length: number;
  /** The name of the column. */
  readonly name: ColumnName;
  /** The storage type of the numbers. */
  readonly type: ColumnType;
  /** The value of all numbers, if the type is `same`. */
  readonly value?: number;
}

/** The names of all columns in all frames. */
export type ColumnName = "step" | "at" | "kind" | "flags" | "health" | "bus" | "from" | "to" | "destination" | "path" | "interface" | "member" | "answers" | "size" | "routed" | "delivered" | "copies" | "recipients" | "selected" | "file" | "peer" | "until" | "on";

/** The storage type of a column. */
export type ColumnType = "u8" | "u32" | "f64" | "i8" | "i16" | "same";

/** A command that sends a message like another one. */
export type CommandText = { readonly name: string; readonly text: string } | { readonly name: string; readonly why: string };

/** The differences between two recordings. */
export interface CompareAnswer {
  /** The number of members that were used before and after. */
  readonly members: readonly [number, number];
  /** The differences that exceed the noise. */
  readonly table: TableData;
}

/** A text with which a query can continue. */
export interface Completion {
  /** A short explanation; empty if the text is obvious. */
  readonly about: string;
  /** The text to insert. */
  readonly text: string;
}

/** The texts with which a query can continue. */
export interface Completions {
  /** The first byte that an offer replaces. */
  readonly from: number;
  /** The offers, the most likely first. */
  readonly offers: readonly Completion[];
  /** The end of the bytes that an offer replaces. */
  readonly to: number;
}

/** The confidence of a rule in its finding. */
export type Confidence = "low" | "medium" | "high";

/** A copy of a message for one recipient. */
export interface CopyEntry {
  /** Nanoseconds until the first bytes of the copy were written. */
  readonly begun_after_ns: number | null;
  /** The unique name of the recipient. */
  readonly recipient: string;
  /** The number of match rules of the recipient that match; 0 if the message is addressed to it. */
  readonly rules: number;
  /** Nanoseconds until all bytes of the copy were written. */
  readonly written_after_ns: number | null;
}

/** The cost of a problem. `Cost::as_time` converts its parts to one measure. */
export interface Cost {
  /** The number of bytes that were transferred unnecessarily. */
  readonly bytes: number;
  /** The number of unnecessary calls. */
  readonly calls: number;
  /** The longest wait; zero if it is unknown. */
  readonly longest_wait_ns: number;
  /** The sum of the waits of all programs, which may overlap. */
  readonly waited_ns: number;
  /** The number of waits in the sum. */
  readonly waits: number;
  /** The number of unnecessary wake-ups of programs. */
  readonly wake_ups: number;
}

/** The number of messages without each part of a selection; `None` for absent parts. */
export interface CountsWithoutParts {
  /** The number without hidden connections. */
  readonly hidden: number | null;
  /** The number without the query. */
  readonly query: number | null;
  /** The number without the time range. */
  readonly time: number | null;
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

/** The reasons why the recording is incomplete. */
export interface EndingAnswer {
  /** One sentence for each reason; empty if the recording is complete. */
  readonly incomplete: readonly string[];
}

/** The messages that show a problem. */
export interface Evidence {
  /** The total number of messages. */
  readonly count: number;
  /** The numbers of the first messages, at most `Evidence::FIRST`, starting at 1. */
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

/** A finding, with the texts of its rule. */
export interface Finding {
  /** The advice of the rule. */
  readonly advice: string;
  /** The command that shows whether a change has helped. */
  readonly check?: string;
  /** The confidence of the rule. */
  readonly confidence: Confidence;
  /** The cost, as far as the recording shows it. */
  readonly cost: Cost;
  /** The total cost as a time, in nanoseconds. */
  readonly cost_ns: number;
  /** The messages that show the problem. */
  readonly evidence: Evidence;
  /**
   * A query for the affected messages, to check whether a change has helped; empty if there is
   * none.
   */
  readonly query: string;
  /** The rule that found the problem. */
  readonly rule: string;
  /** A predicate about the party that describes the problem: "calls X every 200 ms, 150 times". */
  readonly says: string;
  /** The severity, from the cost or fixed by the rule. */
  readonly severity: Severity;
  /** The subject in a form that is the same in every recording, such as a member or a name. */
  readonly subject: string;
  /** The title of the rule. */
  readonly title: string;
  /** The program, name or service that causes the problem. */
  readonly who: FindingParty;
}

/** The program, name or service that a finding is about. */
export interface FindingParty {
  /** The name to display for this recording. */
  readonly label: string;
  /** The program and its process id, if known. */
  readonly process?: string;
  /**
   * The name that is the same in every recording: a well-known name or a program; `-` if only
   * the unique name is known.
   */
  readonly stable: string;
  /** The systemd unit, if known. */
  readonly unit?: string;
}

/** The findings of the linter, with the rules that were applied. */
export interface FindingsAnswer {
  /** The number of connections, except connections of the recorder. */
  readonly connections: number;
  /** The findings, the most important first. */
  readonly findings: readonly Finding[];
  /** The number of findings that a baseline lists. */
  readonly known: number;
  /** The number of messages that were checked. */
  readonly messages: number;
  /** The number of messages from or to the recorder, which were not checked. */
  readonly recorder_messages: RecorderMessageCount;
  /** The rules that were applied. */
  readonly rules: readonly Rule[];
  /** The nanoseconds from the first message to the last. */
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

/** The content of the first frame. */
export interface HelloHead {
  /** True if the page may call methods and set properties. */
  readonly calls: boolean;
  /** The kind of data on the page. */
  readonly mode: PageMode;
  /** True if the page can read the objects on the bus. */
  readonly objects: boolean;
  /** The version of the program. */
  readonly program: string;
  /** The title of the page. */
  readonly title: string;
  /** The version of the format: `VERSION`. */
  readonly version: number;
}

/** The time that a message spent inside the bus. */
export interface InBus {
  /** The phases; their durations add up to `total_ns`. */
  readonly phases: readonly PhaseTime[];
  /** Nanoseconds until all copies were queued. */
  readonly routed_after_ns: number;
  /** Nanoseconds until the last copy was written; `None` if a copy was not written. */
  readonly total_ns: number | null;
}

/** Everything that is known about one message. Absent texts are empty. */
export interface MessageDetails {
  /** The arguments; empty if they cannot be decoded. */
  readonly arguments: readonly Value[];
  /** The time when the message was captured. */
  readonly at: MessageTime;
  /** The bus of the message. */
  readonly bus: string;
  /** Commands that send a message like this one. */
  readonly commands: readonly CommandText[];
  /** The copies of the message, if the bus recorded them. */
  readonly deliveries: readonly CopyEntry[] | null;
  /** The destination of the message. */
  readonly destination: NamedPeer;
  /** Nanoseconds from the call to the reply. */
  readonly duration_ns: number | null;
  /** The flags of the message, in words. */
  readonly flags: readonly string[];
  /** The row of the message. */
  readonly id: number;
  /** The phases of the message inside the bus, if the bus recorded them. */
  readonly in_bus: InBus | null;
  /** The interface of the member. */
  readonly interface: string;
  /** The number of bytes that the recording contains. */
  readonly kept: number;
  /** The type of the message, in words. */
  readonly kind: string;
  /** The method or the signal; for an error, the name of the error. */
  readonly member: string;
  /** The row of the reply to this call, or of the call that this message replies to. */
  readonly partner: number | null;
  /** The path of the object. */
  readonly path: string;
  /** The phases of the call and its reply, if the bus recorded them. */
  readonly phases: readonly PhaseTime[] | null;
  /** The reason why the content is unknown or unreliable. */
  readonly problem: string | null;
  /** The serial number of the call that it replies to; 0 if it is not a reply. */
  readonly reply_serial: number;
  /** The sender of the message. */
  readonly sender: NamedPeer;
  /** The serial number of the message. */
  readonly serial: number;
  /** The types of the arguments, as a signature. */
  readonly signature: string;
  /** The size on the wire, in bytes. */
  readonly size: number;
  /** All types in the arguments. */
  readonly types: TypeTable;
  /** The number of file descriptors that the message carried. */
  readonly unix_fds: number;
}

/** The time when a message was captured. */
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
  /** The number of messages in this frame. */
  readonly count: number;
  /** Files that the recording was read from. */
  readonly files: readonly string[];
  /** Row of the first message of this frame. */
  readonly first: number;
  /** The index of the first text in `strings`. */
  readonly first_string: number;
  /** Times that do not fit into 32 bits: the column, the row within this frame, and nanoseconds. */
  readonly long?: readonly (readonly [ColumnName, number, number])[];
  /** Connections that are new or have changed. */
  readonly peers: readonly Peer[];
  /** Time of the first message of the recording: nanoseconds since 1970, as digits. */
  readonly start_ns: string;
  /** Texts that were not sent before. */
  readonly strings: readonly string[];
  /** The number of messages in the recording so far. */
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

/** A point in time in the start of a service. */
export interface Milestone {
  /** The time of the milestone. */
  readonly at: number;
  /** The row of the message that shows it. */
  readonly message: number | null;
  /** A description of the event. */
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
  /** The container that the connection is in. */
  readonly container?: OwnerContainer;
  /** The path of its executable. */
  readonly exe?: string;
  /** The group IDs of the process. */
  readonly groups?: readonly number[];
  /** The label of the process in the Linux security module. */
  readonly label?: string;
  /** The process ID of the process. */
  readonly pid?: number;
  /** The time when the process was started. */
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
  /** The label of the connection on the page. */
  readonly label: string | null;
  /** The name as it appears in the message. */
  readonly name: string;
  /** The index of the connection. */
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

/** A container of the bus (`org.freedesktop.DBus.Containers1`): the connections of one sandbox. */
export interface OwnerContainer {
  /**
   * The name that the sandbox has chosen, such as an application id, unless the bus does not
   * tell.
   */
  readonly name?: string;
  /** The object path that identifies it. */
  readonly path: string;
  /** The type, such as `org.flatpak`, unless the bus does not tell. */
  readonly type?: string;
}

/** The kind of data that a page shows. */
export type PageMode = "recording" | "live" | "embedded";

/** A connection. Times are nanoseconds since the first message. */
export interface Peer {
  /** The time when it connected, if recorded. */
  readonly arrived: number | null;
  /** The index of its bus. */
  readonly bus: number;
  /** The index of the connection in this recording. */
  readonly id: number;
  /** A well-known name, or the program with the unique name, or only the unique name. */
  readonly label: string;
  /** The time when it disconnected, if recorded. */
  readonly left: number | null;
  /** Well-known names that it has owned. */
  readonly names: readonly string[];
  /** The process that has the connection, if it is known. */
  readonly process: Process | null;
  /** True if the connection exists only to make the recording. */
  readonly recorder: boolean;
  /** The unique name of the connection. */
  readonly unique: string;
  /** The reason why the bus disconnected it. */
  readonly why: string | null;
}

/** The duration of one phase. */
export interface PhaseTime {
  /** The duration in nanoseconds. */
  readonly ns: number;
  /** The phase, in words. */
  readonly phase: string;
}

/** The process of a connection. Unknown facts are `None`. */
export interface Process {
  /** The words of the command line. */
  readonly command: readonly string[];
  /** Path of the executable. */
  readonly exe: string | null;
  /** The process id (pid). */
  readonly pid: number | null;
  /** The usual name of the program. */
  readonly program: string | null;
  /** The user id (uid). */
  readonly uid: number | null;
  /** The systemd unit of the process. */
  readonly unit: string | null;
}

/** The result of parsing a text. */
export type ReadText =
  | { readonly arguments: readonly Json[] }
  | { readonly problem: { readonly column: number | null; readonly sentence: string } };

/** The number of messages that are left out because they are from or to the recorder. */
export type RecorderMessageCount = number;

/** An answer with all types that it mentions, or the reason why the request failed. */
export type ReplyBusAnswer = { readonly answer: BusAnswer; readonly types: TypeTable } | { readonly failure: string };

/** An answer with all types that it mentions, or the reason why the request failed. */
export type ReplyWatchEvent = { readonly answer: WatchEvent; readonly types: TypeTable } | { readonly failure: string };

/** A lint rule, with the texts of `diligence lint --explain`. */
export interface Rule {
  /** The advice of the rule. */
  readonly advice: string;
  /** The id of the rule, like `L07`. */
  readonly id: string;
  /** The explanation of the problem. */
  readonly meaning: string;
  /** The content that the rule needs in a recording, in words. */
  readonly needs: string;
  /** The way in which the severity is determined, in words, like `by cost`. */
  readonly severity: string;
  /** The thresholds of the rule, with their sources. */
  readonly thresholds: readonly string[];
  /** The title of the rule. */
  readonly title: string;
}

/** A file with messages. */
export interface SaveAnswer {
  /** The number of messages in the file. */
  readonly messages: number;
}

/** The number of selected messages, with notes. */
export interface SelectAnswer {
  /** The number of selected messages. */
  readonly count: number;
  /** The reason why the query selects no message, as a sentence. */
  readonly note: string | null;
  /** A sentence about hidden messages of the recorder. */
  readonly recorder: string | null;
  /** The number of messages that the query could select. */
  readonly total: number;
}

/** The severity of a finding. `Cost::severity` derives it from the cost. */
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

/** An event of a watch. */
export type SignalEvent =
  | { readonly signal: WatchedSignal }
  | { readonly lost: { readonly count: number } };

/** The start of a service. Times are nanoseconds since the first message. */
export interface StartUp {
  /** The known milestones of the start, sorted by time. */
  readonly milestones: readonly Milestone[];
  /** The first well-known name that it owned. */
  readonly name: string;
  /** The work and the waits of the service until it was ready. */
  readonly path: readonly Step[];
  /** The connection of the service. */
  readonly peer: number;
}

/** A table of statistics. */
export interface StatisticsAnswer {
  /** A description of the table. */
  readonly about: string;
  /** The name of the table. */
  readonly subject: string;
  /** The content of the table. */
  readonly table: TableData;
}

/** A time span in the start of a service. */
export interface Step {
  /** The number of calls in which it is nested. */
  readonly depth: number;
  /** The start of the span. */
  readonly from: number;
  /** The connection that worked, or the row of the call that the service waited for. */
  readonly id: number;
  /** The end of the span. */
  readonly to: number;
  /** The kind of the step. */
  readonly what: StepKind;
}

/** The kind of a step in the start of a service. */
export type StepKind = "works" | "waits";

/** The totals of a recording, or of the messages that a query selects. */
export interface Summary {
  /**
   * The number of times that the clock jumped back in the whole recording: see
   * `clock_set_back`(Capture::clock_set_back).
   */
  readonly backward: number;
  /** The size of the messages in bytes, including bytes that were not kept. */
  readonly bytes: number;
  /** The number of calls that the bus answered with an error because the callee had disconnected. */
  readonly callee_left: number;
  /** The number of unanswered calls whose caller disconnected. */
  readonly caller_left: number;
  /** The number of calls. */
  readonly calls: number;
  /** The number of calls with an unknown destination, because the capture cut headers. */
  readonly calls_to_unknown: number;
  /** The number of messages that were not kept completely. */
  readonly cut: number;
  /** The number of calls to the bus itself. */
  readonly driver_calls: number;
  /** The number of messages to or from the bus itself. */
  readonly driver_messages: number;
  /** The number of errors. */
  readonly errors: number;
  /** The number of messages whose header was not kept completely. */
  readonly headers_cut: number;
  /** The number of messages that violate the specification. */
  readonly invalid: number;
  /** The number of replies after a timeout, or after the caller had disconnected. */
  readonly late: number;
  /** The number of messages. */
  readonly messages: number;
  /** The number of replies without a recorded call. */
  readonly orphans: number;
  /** The number of messages whose body was redacted. */
  readonly redacted: number;
  /** The number of successful replies. */
  readonly returns: number;
  /** The number of signals. */
  readonly signals: number;
  /** The time from the first message to the last. */
  readonly span_ns: number;
  /**
   * The number of calls that the bus answered with an error because the callee had not replied
   * in time.
   */
  readonly time_outs: number;
  /**
   * The number of calls whose caller disconnected before a reply, or was waiting when the
   * recording ended.
   */
  readonly unanswered: number;
  /**
   * The number of errors from the bus about messages other than calls that it could not deliver,
   * mostly late replies.
   */
  readonly undelivered: number;
  /** The number of messages of other types, or whose type cannot be read. */
  readonly unknown: number;
  /** The number of replies with an unknown call, because the capture cut headers. */
  readonly unknown_call: number;
  /** The number of calls with an unknown outcome, because the capture cut messages. */
  readonly unknown_outcome: number;
  /** The number of unanswered calls whose caller was waiting when the recording ended. */
  readonly waiting: number;
}

/** Totals of a selection. */
export interface SummaryAnswer {
  /** Sentences about facts that limit the meaning of the totals. */
  readonly caveats: readonly string[];
  /** The reason why the recording ended, in words; one entry for each of its parts. */
  readonly ended: readonly string[];
  /** The totals of the selected messages. */
  readonly summary: Summary;
}

/** The times when processes ran; the numbers are in columns. */
export interface SwitchesAnswer {
  /** True if the recording has the times when processes ran. */
  readonly is_recorded: boolean;
}

/** A column of a table. */
export interface TableColumn {
  /** The key of the column in the JSON that commands print. */
  readonly key: string;
  /** The title of the column. */
  readonly name: string;
  /** The unit of its numbers. */
  readonly unit: Unit;
}

/** A table. Times are in nanoseconds; shares range from 0 to 1. */
export interface TableData {
  /** The columns of the table. */
  readonly columns: readonly TableColumn[];
  /** Sentences about facts that limit the meaning of the numbers. */
  readonly notes: readonly string[];
  /** The rows, each with one cell for each column. */
  readonly rows: readonly (readonly Cell[])[];
}

/** A point in time: nanoseconds since 1970 by the clock of the recording machine. */
export type Time = number;

/** The time that calls and starts of services took. */
export interface TimelineAnswer {
  /** The callers and the services that they waited for. */
  readonly blocked: TableData;
  /** Services that failed to start. */
  readonly failed_starts: TableData;
  /** The share of the calls' time that the bus took; `None` if it is unknown. */
  readonly shares: TableData | null;
  /** The slowest of the selected calls. */
  readonly slowest: TableData;
  /** The starts of services. */
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

/** The structure of a type. */
export type TypeShape =
  | { readonly code: BasicCode; readonly kind: "basic" }
  | { readonly kind: "variant" }
  | { readonly kind: "bytes" }
  | { readonly element: ValueType; readonly kind: "array" }
  | { readonly key: ValueType; readonly kind: "dictionary"; readonly value: ValueType }
  | { readonly fields: readonly ValueType[]; readonly kind: "structure" };

/** All types that occur in an answer, by their signatures. */
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
 * A type. Arrays of bytes and dictionaries have their own kinds, because the page shows and edits
 * them differently from other arrays.
 */
export interface ValueType {
  /** The structure of the type. */
  readonly shape: TypeShape;
  /** The signature of the type. */
  readonly signature: string;
  /** The type in words. */
  readonly words: string;
}

/** An event of a watch. */
export type WatchEvent =
  | { readonly begun: Watched }
  | { readonly unwatched: { readonly failure: Failure; readonly what: WatchKind } }
  | { readonly heard: { readonly of: WatchKind; readonly what: SignalEvent } };

/** The subject of one subscription, for the page. */
export type WatchKind = "names" | "objects" | "object";

/**
 * The scope of a watch: always names, and optionally the objects of `service` and the signals of
 * the object at `path`.
 */
export interface Watched {
  /** The path of an object of the service. */
  readonly path: string | null;
  /** A unique or well-known name of the service. */
  readonly service: string | null;
}

/** A signal that arrived. */
export interface WatchedSignal {
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

/** Controls whether a service may ask the user to authorize a call, for example through polkit. */
export type Authorization = "silent" | "interactive";

/** A request of the page to the bus. */
export type BusRequest =
  | { readonly do: "names" }
  | { readonly do: "name"; readonly name: string }
  | { readonly do: "tree"; readonly service: string }
  | { readonly do: "object"; readonly path: string; readonly service: string }
  | { readonly do: "get"; readonly property: PropertyName }
  | { readonly do: "set"; readonly manner?: CallSettings | undefined; readonly property: PropertyName; readonly signature?: string | null | undefined; readonly value: Json }
  | { readonly call: Call; readonly do: "call"; readonly manner?: CallSettings | undefined }
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

/** How a method is called: its timeout and its message flags. */
export interface CallSettings {
  /** Controls whether the service may ask the user for authorization. */
  readonly authorization?: Authorization | undefined;
  /** Controls whether the caller waits for a reply. */
  readonly reply?: Reply | undefined;
  /** Controls whether the bus may start the service. */
  readonly starting?: Starting | undefined;
  /** The timeout for the reply, in milliseconds. */
  readonly timeout_ms?: number | undefined;
}

/** A file format in which messages can be saved. */
export type FileFormat = "pcapng" | "pcap";

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
 * A selection of messages by a query, a time range and hidden connections. The `Default` selects
 * all messages except messages of the recorder.
 */
export interface Selection {
  /** The first selected time, in nanoseconds since the first message. */
  readonly from?: number | null | undefined;
  /**
   * The indexes of hidden connections. A message is not selected if one of them is its sender or
   * destination. The reply to such a message is not selected either.
   */
  readonly hidden?: readonly number[] | undefined;
  /** A query, in the language that all commands use. */
  readonly query?: string | undefined;
  /** The end of the selected time, in nanoseconds since the first message. */
  readonly until?: number | null | undefined;
}

/** Controls whether the bus may start a service that does not run. */
export type Starting = "never" | "allowed";

/** The types that the page receives and validates. */
export interface Checked {
  readonly FrameHead: FrameHead;
  readonly ColumnHead: ColumnHead;
  readonly About: About;
  readonly ReplyBusAnswer: ReplyBusAnswer;
  readonly ReplyWatchEvent: ReplyWatchEvent;
}

/** The schemas of these types and of all types that they refer to. */
export const SCHEMAS: Readonly<Record<string, Schema>> = {
  About: {"properties":{"redacted":{"type":"boolean"},"title":{"type":"string"}},"required":["title","redacted"],"type":"object"},
  Access: {"enum":["read","write","read-write"]},
  Annotation: {"properties":{"name":{"type":"string"},"value":{"type":"string"}},"required":["name","value"],"type":"object"},
  AnswerBody: {"oneOf":[{"additionalProperties":false,"properties":{"select":{"$ref":"#/$defs/SelectAnswer"}},"required":["select"],"type":"object"},{"additionalProperties":false,"properties":{"without":{"$ref":"#/$defs/CountsWithoutParts"}},"required":["without"],"type":"object"},{"additionalProperties":false,"properties":{"complete":{"$ref":"#/$defs/Completions"}},"required":["complete"],"type":"object"},{"additionalProperties":false,"properties":{"message":{"$ref":"#/$defs/MessageDetails"}},"required":["message"],"type":"object"},{"additionalProperties":false,"properties":{"summary":{"$ref":"#/$defs/SummaryAnswer"}},"required":["summary"],"type":"object"},{"additionalProperties":false,"properties":{"statistics":{"$ref":"#/$defs/StatisticsAnswer"}},"required":["statistics"],"type":"object"},{"additionalProperties":false,"properties":{"findings":{"$ref":"#/$defs/FindingsAnswer"}},"required":["findings"],"type":"object"},{"additionalProperties":false,"properties":{"ending":{"$ref":"#/$defs/EndingAnswer"}},"required":["ending"],"type":"object"},{"additionalProperties":false,"properties":{"timeline":{"$ref":"#/$defs/TimelineAnswer"}},"required":["timeline"],"type":"object"},{"additionalProperties":false,"properties":{"save":{"$ref":"#/$defs/SaveAnswer"}},"required":["save"],"type":"object"},{"additionalProperties":false,"properties":{"switches":{"$ref":"#/$defs/SwitchesAnswer"}},"required":["switches"],"type":"object"},{"additionalProperties":false,"properties":{"compare":{"$ref":"#/$defs/CompareAnswer"}},"required":["compare"],"type":"object"}]},
  Argument: {"properties":{"annotations":{"items":{"$ref":"#/$defs/Annotation"},"type":"array"},"name":{"type":["string","null"]},"type":{"type":"string"}},"required":["name","type"],"type":"object"},
  BasicCode: {"enum":["y","b","n","q","i","u","x","t","d","s","o","g","h"]},
  Bus: {"properties":{"address":{"type":["string","null"]},"file":{"minimum":0,"type":"integer"},"label":{"type":"string"},"method":{"$ref":"#/$defs/CaptureMethod"},"redacted":{"type":"boolean"},"replacements":{"items":{"$ref":"#/$defs/BusReplacement"},"type":"array"}},"required":["label","address","method","redacted","file"],"type":"object"},
  BusAnswer: {"oneOf":[{"additionalProperties":false,"properties":{"names":{"items":{"$ref":"#/$defs/Name"},"type":"array"}},"required":["names"],"type":"object"},{"additionalProperties":false,"properties":{"name":{"anyOf":[{"$ref":"#/$defs/Name"},{"type":"null"}]}},"required":["name"],"type":"object"},{"additionalProperties":false,"properties":{"tree":{"$ref":"#/$defs/Tree"}},"required":["tree"],"type":"object"},{"additionalProperties":false,"properties":{"object":{"$ref":"#/$defs/BusObject"}},"required":["object"],"type":"object"},{"additionalProperties":false,"properties":{"get":{"$ref":"#/$defs/CallAnswer"}},"required":["get"],"type":"object"},{"additionalProperties":false,"properties":{"set":{"$ref":"#/$defs/CallAnswer"}},"required":["set"],"type":"object"},{"additionalProperties":false,"properties":{"call":{"$ref":"#/$defs/CallAnswer"}},"required":["call"],"type":"object"},{"additionalProperties":false,"properties":{"read":{"$ref":"#/$defs/ReadText"}},"required":["read"],"type":"object"},{"additionalProperties":false,"properties":{"write":{"type":"string"}},"required":["write"],"type":"object"},{"additionalProperties":false,"properties":{"commands":{"$ref":"#/$defs/CallCommands"}},"required":["commands"],"type":"object"},{"additionalProperties":false,"properties":{"types":{"items":{"$ref":"#/$defs/ValueType"},"type":["array","null"]}},"required":["types"],"type":"object"}]},
  BusObject: {"properties":{"children":{"items":{"type":"string"},"type":"array"},"interfaces":{"items":{"$ref":"#/$defs/ObjectInterface"},"type":"array"},"path":{"type":"string"},"service":{"type":"string"},"took_ns":{"minimum":0,"type":"integer"}},"required":["service","path","interfaces","children","took_ns"],"type":"object"},
  BusReplacement: {"properties":{"at":{"type":"integer"},"new":{"type":"string"},"old":{"type":"string"},"paused_ns":{"minimum":0,"type":"integer"}},"required":["at","paused_ns","old","new"],"type":"object"},
  CallAnswer: {"properties":{"failed":{"$ref":"#/$defs/Failure"},"returned":{"properties":{"descriptors":{"items":{"$ref":"#/$defs/Descriptor"},"type":"array"},"results":{"items":{"$ref":"#/$defs/TypedValue"},"type":"array"},"sender":{"type":"string"}},"required":["sender","results","descriptors"],"type":"object"},"sent":{"type":"object"},"took_ns":{"minimum":0,"type":"integer"}},"required":["took_ns"],"type":"object"},
  CallCommands: {"properties":{"busctl":{"type":"string"},"gdbus":{"type":"string"}},"required":["busctl","gdbus"],"type":"object"},
  CaptureMethod: {"enum":["unknown","trace","monitor","eavesdrop"]},
  Cell: {"type":["string","number","null"]},
  ColumnHead: {"properties":{"length":{"minimum":0,"type":"integer"},"name":{"$ref":"#/$defs/ColumnName"},"type":{"$ref":"#/$defs/ColumnType"},"value":{"minimum":0,"type":"integer"}},"required":["name","type","length"],"type":"object"},
  ColumnName: {"enum":["step","at","kind","flags","health","bus","from","to","destination","path","interface","member","answers","size","routed","delivered","copies","recipients","selected","file","peer","until","on"]},
  ColumnType: {"enum":["u8","u32","f64","i8","i16","same"]},
  CommandText: {"anyOf":[{"properties":{"name":{"type":"string"},"text":{"type":"string"}},"required":["name","text"],"type":"object"},{"properties":{"name":{"type":"string"},"why":{"type":"string"}},"required":["name","why"],"type":"object"}]},
  CompareAnswer: {"properties":{"members":{"prefixItems":[{"minimum":0,"type":"integer"},{"minimum":0,"type":"integer"}],"type":"array"},"table":{"$ref":"#/$defs/TableData"}},"required":["members","table"],"type":"object"},
  Completion: {"properties":{"about":{"type":"string"},"text":{"type":"string"}},"required":["text","about"],"type":"object"},
  Completions: {"properties":{"from":{"minimum":0,"type":"integer"},"offers":{"items":{"$ref":"#/$defs/Completion"},"type":"array"},"to":{"minimum":0,"type":"integer"}},"required":["from","to","offers"],"type":"object"},
  Confidence: {"enum":["low","medium","high"]},
  CopyEntry: {"properties":{"begun_after_ns":{"minimum":0,"type":["integer","null"]},"recipient":{"type":"string"},"rules":{"minimum":0,"type":"integer"},"written_after_ns":{"minimum":0,"type":["integer","null"]}},"required":["recipient","begun_after_ns","written_after_ns","rules"],"type":"object"},
  Cost: {"properties":{"bytes":{"minimum":0,"type":"integer"},"calls":{"minimum":0,"type":"integer"},"longest_wait_ns":{"minimum":0,"type":"integer"},"waited_ns":{"minimum":0,"type":"integer"},"waits":{"minimum":0,"type":"integer"},"wake_ups":{"minimum":0,"type":"integer"}},"required":["waited_ns","waits","longest_wait_ns","calls","wake_ups","bytes"],"type":"object"},
  CountsWithoutParts: {"properties":{"hidden":{"minimum":0,"type":["integer","null"]},"query":{"minimum":0,"type":["integer","null"]},"time":{"minimum":0,"type":["integer","null"]}},"required":["query","hidden","time"],"type":"object"},
  Descriptor: {"properties":{"what":{"type":"string"}},"required":["what"],"type":"object"},
  EmitsChange: {"enum":["value","invalidates","const","no"]},
  EndingAnswer: {"properties":{"incomplete":{"items":{"type":"string"},"type":"array"}},"required":["incomplete"],"type":"object"},
  Evidence: {"properties":{"count":{"minimum":0,"type":"integer"},"first":{"items":{"minimum":0,"type":"integer"},"type":"array"}},"required":["first","count"],"type":"object"},
  Failure: {"properties":{"argument":{"minimum":0,"type":"integer"},"kind":{"type":"string"},"message":{"type":"string"},"name":{"type":"string"},"sentence":{"type":"string"}},"required":["kind","sentence"],"type":"object"},
  Finding: {"properties":{"advice":{"type":"string"},"check":{"type":"string"},"confidence":{"$ref":"#/$defs/Confidence"},"cost":{"$ref":"#/$defs/Cost"},"cost_ns":{"minimum":0,"type":"integer"},"evidence":{"$ref":"#/$defs/Evidence"},"query":{"type":"string"},"rule":{"type":"string"},"says":{"type":"string"},"severity":{"$ref":"#/$defs/Severity"},"subject":{"type":"string"},"title":{"type":"string"},"who":{"$ref":"#/$defs/FindingParty"}},"required":["title","advice","rule","severity","confidence","who","subject","says","cost","evidence","query","cost_ns"],"type":"object"},
  FindingParty: {"properties":{"label":{"type":"string"},"process":{"type":"string"},"stable":{"type":"string"},"unit":{"type":"string"}},"required":["label","stable"],"type":"object"},
  FindingsAnswer: {"properties":{"connections":{"minimum":0,"type":"integer"},"findings":{"items":{"$ref":"#/$defs/Finding"},"type":"array"},"known":{"minimum":0,"type":"integer"},"messages":{"minimum":0,"type":"integer"},"recorder_messages":{"$ref":"#/$defs/RecorderMessageCount"},"rules":{"items":{"$ref":"#/$defs/Rule"},"type":"array"},"span_ns":{"minimum":0,"type":"integer"}},"required":["messages","recorder_messages","span_ns","connections","known","findings","rules"],"type":"object"},
  FrameHead: {"oneOf":[{"$ref":"#/$defs/HelloHead","properties":{"kind":{"const":"hello","type":"string"}},"required":["kind"],"type":"object"},{"$ref":"#/$defs/MessagesHead","properties":{"kind":{"const":"messages","type":"string"}},"required":["kind"],"type":"object"},{"properties":{"disconnected":{"minimum":0,"type":"integer"},"kind":{"const":"missing","type":"string"},"overrun":{"minimum":0,"type":"integer"}},"required":["kind","overrun","disconnected"],"type":"object"},{"properties":{"before":{"minimum":0,"type":"integer"},"kind":{"const":"reset","type":"string"}},"required":["kind","before"],"type":"object"},{"properties":{"kind":{"const":"end","type":"string"},"why":{"type":["string","null"]}},"required":["kind","why"],"type":"object"},{"properties":{"answer":{"$ref":"#/$defs/AnswerBody"},"kind":{"const":"answer","type":"string"}},"required":["kind","answer"],"type":"object"},{"properties":{"column":{"minimum":0,"type":"integer"},"kind":{"const":"refusal","type":"string"},"message":{"type":"string"},"unfinished":{"type":"boolean"}},"required":["kind","message"],"type":"object"},{"properties":{"before":{"minimum":0,"type":"integer"},"kind":{"const":"moved","type":"string"}},"required":["kind","before"],"type":"object"}]},
  HelloHead: {"properties":{"calls":{"type":"boolean"},"mode":{"$ref":"#/$defs/PageMode"},"objects":{"type":"boolean"},"program":{"type":"string"},"title":{"type":"string"},"version":{"minimum":0,"type":"integer"}},"required":["version","program","title","mode","objects","calls"],"type":"object"},
  InBus: {"properties":{"phases":{"items":{"$ref":"#/$defs/PhaseTime"},"type":"array"},"routed_after_ns":{"minimum":0,"type":"integer"},"total_ns":{"minimum":0,"type":["integer","null"]}},"required":["phases","routed_after_ns","total_ns"],"type":"object"},
  MessageDetails: {"properties":{"arguments":{"items":{"$ref":"#/$defs/Value"},"type":"array"},"at":{"$ref":"#/$defs/MessageTime"},"bus":{"type":"string"},"commands":{"items":{"$ref":"#/$defs/CommandText"},"type":"array"},"deliveries":{"items":{"$ref":"#/$defs/CopyEntry"},"type":["array","null"]},"destination":{"$ref":"#/$defs/NamedPeer"},"duration_ns":{"minimum":0,"type":["integer","null"]},"flags":{"items":{"type":"string"},"type":"array"},"id":{"minimum":0,"type":"integer"},"in_bus":{"anyOf":[{"$ref":"#/$defs/InBus"},{"type":"null"}]},"interface":{"type":"string"},"kept":{"minimum":0,"type":"integer"},"kind":{"type":"string"},"member":{"type":"string"},"partner":{"minimum":0,"type":["integer","null"]},"path":{"type":"string"},"phases":{"items":{"$ref":"#/$defs/PhaseTime"},"type":["array","null"]},"problem":{"type":["string","null"]},"reply_serial":{"minimum":0,"type":"integer"},"sender":{"$ref":"#/$defs/NamedPeer"},"serial":{"minimum":0,"type":"integer"},"signature":{"type":"string"},"size":{"minimum":0,"type":"integer"},"types":{"$ref":"#/$defs/TypeTable"},"unix_fds":{"minimum":0,"type":"integer"}},"required":["id","kind","serial","reply_serial","flags","at","bus","sender","destination","path","interface","member","signature","size","kept","unix_fds","problem","arguments","types","partner","duration_ns","phases","in_bus","deliveries","commands"],"type":"object"},
  MessageTime: {"properties":{"since_start_ns":{"type":"integer"},"wall_ns":{"type":"string"}},"required":["wall_ns","since_start_ns"],"type":"object"},
  MessagesHead: {"properties":{"at":{"type":"number"},"buses":{"items":{"$ref":"#/$defs/Bus"},"type":"array"},"count":{"minimum":0,"type":"integer"},"files":{"items":{"type":"string"},"type":"array"},"first":{"minimum":0,"type":"integer"},"first_string":{"minimum":0,"type":"integer"},"long":{"items":{"prefixItems":[{"$ref":"#/$defs/ColumnName"},{"minimum":0,"type":"integer"},{"minimum":0,"type":"integer"}],"type":"array"},"type":"array"},"peers":{"items":{"$ref":"#/$defs/Peer"},"type":"array"},"start_ns":{"type":"string"},"strings":{"items":{"type":"string"},"type":"array"},"total":{"minimum":0,"type":"integer"}},"required":["first","count","total","start_ns","first_string","strings","peers","files","buses"],"type":"object"},
  Method: {"properties":{"annotations":{"items":{"$ref":"#/$defs/Annotation"},"type":"array"},"arguments":{"items":{"$ref":"#/$defs/Argument"},"type":"array"},"documentation":{"type":"string"},"name":{"type":"string"},"results":{"items":{"$ref":"#/$defs/Argument"},"type":"array"}},"required":["name","arguments","results","annotations"],"type":"object"},
  Milestone: {"properties":{"at":{"type":"integer"},"message":{"minimum":0,"type":["integer","null"]},"what":{"type":"string"}},"required":["at","what","message"],"type":"object"},
  Name: {"properties":{"failure":{"$ref":"#/$defs/Failure"},"is_activatable":{"type":"boolean"},"name":{"type":"string"},"owner":{"type":"string"},"who":{"$ref":"#/$defs/NameOwner"}},"required":["name","is_activatable"],"type":"object"},
  NameOwner: {"properties":{"cgroup":{"type":"string"},"comm":{"type":"string"},"command":{"items":{"type":"string"},"type":"array"},"container":{"$ref":"#/$defs/OwnerContainer"},"exe":{"type":"string"},"groups":{"items":{"minimum":0,"type":"integer"},"type":"array"},"label":{"type":"string"},"pid":{"minimum":0,"type":"integer"},"started":{"$ref":"#/$defs/Time"},"uid":{"minimum":0,"type":"integer"},"unit":{"type":"string"},"user":{"type":"string"}},"type":"object"},
  NamedPeer: {"properties":{"label":{"type":["string","null"]},"name":{"type":"string"},"peer":{"minimum":0,"type":["integer","null"]}},"required":["name","peer","label"],"type":"object"},
  ObjectInterface: {"properties":{"annotations":{"items":{"$ref":"#/$defs/Annotation"},"type":"array"},"documentation":{"type":"string"},"failure":{"$ref":"#/$defs/Failure"},"methods":{"items":{"$ref":"#/$defs/Method"},"type":"array"},"name":{"type":"string"},"properties":{"items":{"$ref":"#/$defs/ObjectProperty"},"type":"array"},"signals":{"items":{"$ref":"#/$defs/Signal"},"type":"array"},"undescribed":{"additionalProperties":{"$ref":"#/$defs/TypedValue"},"type":"object"}},"required":["name","methods","signals","properties","annotations"],"type":"object"},
  ObjectProperty: {"properties":{"access":{"$ref":"#/$defs/Access"},"annotations":{"items":{"$ref":"#/$defs/Annotation"},"type":"array"},"documentation":{"type":"string"},"emits_change":{"$ref":"#/$defs/EmitsChange"},"failure":{"$ref":"#/$defs/Failure"},"name":{"type":"string"},"type":{"type":"string"},"value":{"$ref":"#/$defs/TypedValue"}},"required":["name","type","access","emits_change","annotations"],"type":"object"},
  OwnerContainer: {"properties":{"name":{"type":"string"},"path":{"type":"string"},"type":{"type":"string"}},"required":["path"],"type":"object"},
  PageMode: {"enum":["recording","live","embedded"]},
  Peer: {"properties":{"arrived":{"type":["integer","null"]},"bus":{"minimum":0,"type":"integer"},"id":{"minimum":0,"type":"integer"},"label":{"type":"string"},"left":{"type":["integer","null"]},"names":{"items":{"type":"string"},"type":"array"},"process":{"anyOf":[{"$ref":"#/$defs/Process"},{"type":"null"}]},"recorder":{"type":"boolean"},"unique":{"type":"string"},"why":{"type":["string","null"]}},"required":["id","bus","unique","names","label","process","arrived","left","why","recorder"],"type":"object"},
  PhaseTime: {"properties":{"ns":{"minimum":0,"type":"integer"},"phase":{"type":"string"}},"required":["phase","ns"],"type":"object"},
  Process: {"properties":{"command":{"items":{"type":"string"},"type":"array"},"exe":{"type":["string","null"]},"pid":{"minimum":0,"type":["integer","null"]},"program":{"type":["string","null"]},"uid":{"minimum":0,"type":["integer","null"]},"unit":{"type":["string","null"]}},"required":["pid","uid","program","exe","command","unit"],"type":"object"},
  ReadText: {"oneOf":[{"additionalProperties":false,"properties":{"arguments":{"items":{},"type":"array"}},"required":["arguments"],"type":"object"},{"additionalProperties":false,"properties":{"problem":{"properties":{"column":{"minimum":0,"type":["integer","null"]},"sentence":{"type":"string"}},"required":["sentence","column"],"type":"object"}},"required":["problem"],"type":"object"}]},
  RecorderMessageCount: {"minimum":0,"type":"integer"},
  ReplyBusAnswer: {"anyOf":[{"properties":{"answer":{"$ref":"#/$defs/BusAnswer"},"types":{"$ref":"#/$defs/TypeTable"}},"required":["answer","types"],"type":"object"},{"properties":{"failure":{"type":"string"}},"required":["failure"],"type":"object"}]},
  ReplyWatchEvent: {"anyOf":[{"properties":{"answer":{"$ref":"#/$defs/WatchEvent"},"types":{"$ref":"#/$defs/TypeTable"}},"required":["answer","types"],"type":"object"},{"properties":{"failure":{"type":"string"}},"required":["failure"],"type":"object"}]},
  Rule: {"properties":{"advice":{"type":"string"},"id":{"type":"string"},"meaning":{"type":"string"},"needs":{"type":"string"},"severity":{"type":"string"},"thresholds":{"items":{"type":"string"},"type":"array"},"title":{"type":"string"}},"required":["id","title","severity","needs","meaning","thresholds","advice"],"type":"object"},
  SaveAnswer: {"properties":{"messages":{"minimum":0,"type":"integer"}},"required":["messages"],"type":"object"},
  SelectAnswer: {"properties":{"count":{"minimum":0,"type":"integer"},"note":{"type":["string","null"]},"recorder":{"type":["string","null"]},"total":{"minimum":0,"type":"integer"}},"required":["count","total","recorder","note"],"type":"object"},
  Severity: {"enum":["info","low","med","high"]},
  Signal: {"properties":{"annotations":{"items":{"$ref":"#/$defs/Annotation"},"type":"array"},"arguments":{"items":{"$ref":"#/$defs/Argument"},"type":"array"},"documentation":{"type":"string"},"name":{"type":"string"}},"required":["name","arguments","annotations"],"type":"object"},
  SignalEvent: {"oneOf":[{"additionalProperties":false,"properties":{"signal":{"$ref":"#/$defs/WatchedSignal"}},"required":["signal"],"type":"object"},{"additionalProperties":false,"properties":{"lost":{"properties":{"count":{"minimum":0,"type":"integer"}},"required":["count"],"type":"object"}},"required":["lost"],"type":"object"}]},
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
  WatchEvent: {"oneOf":[{"additionalProperties":false,"properties":{"begun":{"$ref":"#/$defs/Watched"}},"required":["begun"],"type":"object"},{"additionalProperties":false,"properties":{"unwatched":{"properties":{"failure":{"$ref":"#/$defs/Failure"},"what":{"$ref":"#/$defs/WatchKind"}},"required":["what","failure"],"type":"object"}},"required":["unwatched"],"type":"object"},{"additionalProperties":false,"properties":{"heard":{"properties":{"of":{"$ref":"#/$defs/WatchKind"},"what":{"$ref":"#/$defs/SignalEvent"}},"required":["of","what"],"type":"object"}},"required":["heard"],"type":"object"}]},
  WatchKind: {"enum":["names","objects","object"]},
  Watched: {"properties":{"path":{"type":["string","null"]},"service":{"type":["string","null"]}},"required":["service","path"],"type":"object"},
  WatchedSignal: {"properties":{"arguments":{"items":{"$ref":"#/$defs/TypedValue"},"type":"array"},"at_us":{"minimum":0,"type":"integer"},"descriptors":{"items":{"$ref":"#/$defs/Descriptor"},"type":"array"},"failure":{"$ref":"#/$defs/Failure"},"interface":{"type":"string"},"member":{"type":"string"},"path":{"type":"string"},"sender":{"type":"string"}},"required":["at_us","sender","path","interface","member"],"type":"object"},
};
