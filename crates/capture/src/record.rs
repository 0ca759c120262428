//! The records that make up a recording, independent of its file format.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

pub use ::trace::record::Stages;

/// A point in time: nanoseconds since 1970 by the clock of the recording machine.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize,
)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "Time"))]
#[serde(transparent)]
pub struct RecordedTime(pub i64);

impl RecordedTime {
    /// Returns the time elapsed since `earlier`; `None` if `earlier` is later, as after a clock was
    /// set back.
    pub fn since(self, earlier: Self) -> Option<Duration> {
        let nanos = self.0.checked_sub(earlier.0)?;
        u64::try_from(nanos).ok().map(Duration::from_nanos)
    }

    /// Returns the time `span` before this one, saturating.
    pub fn before(self, span: Duration) -> Self {
        Self(self.0.saturating_sub(i64::try_from(span.as_nanos()).unwrap_or(i64::MAX)))
    }

    /// Returns the time `span` after this one, saturating.
    pub fn after(self, span: Duration) -> Self {
        Self(self.0.saturating_add(i64::try_from(span.as_nanos()).unwrap_or(i64::MAX)))
    }
}

impl fmt::Display for RecordedTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (seconds, nanos) = (self.0.div_euclid(NANOS), self.0.rem_euclid(NANOS));
        write!(f, "{seconds}.{nanos:09}")
    }
}

/// The earliest and the latest of some times.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct TimeSpan {
    ends: Option<(RecordedTime, RecordedTime)>,
}

impl TimeSpan {
    pub(crate) fn add(&mut self, at: RecordedTime) {
        let (first, last) = self.ends.unwrap_or((at, at));
        self.ends = Some((first.min(at), last.max(at)));
    }

    pub(crate) fn length(&self) -> Duration {
        self.ends.and_then(|(first, last)| last.since(first)).unwrap_or_default()
    }

    /// The last time; 0 without any time.
    pub(crate) fn last(&self) -> RecordedTime {
        self.ends.map(|(_, last)| last).unwrap_or_default()
    }

    /// Returns true if the span shares a point in time with another one.
    pub(crate) fn overlaps(&self, from: RecordedTime, until: RecordedTime) -> bool {
        self.ends.is_some_and(|(first, last)| from <= last && first <= until)
    }
}

/// Returns the nanoseconds of a span, saturating at the largest number.
pub fn nanos(span: Duration) -> u64 {
    u64::try_from(span.as_nanos()).unwrap_or(u64::MAX)
}

const NANOS: i64 = 1_000_000_000;

/// The index of a bus in a recording, in the order in which the recording lists the buses.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct BusId(pub u16);

/// A record of a recording.
#[derive(Clone, Debug)]
pub enum RecordingRecord<'a> {
    /// The program and machine that made the recording.
    Origin(RecordingOrigin),
    /// A bus, whose messages follow.
    Bus(RecordedBus),
    /// A message with its time and bus.
    Message(RawMessage<'a>),
    /// A fact that the recorder learned about a name, a process or a match rule.
    Fact {
        /// The time when the fact became true, or when it was found.
        at: RecordedTime,
        /// The bus that the fact is about.
        bus: BusId,
        /// The content of the fact.
        fact: Fact,
    },
    /// Messages are missing at this point.
    Gap(RecordingGap),
    /// A part of the file is unreadable.
    Damage(Damage),
}

/// The origin of a recording.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct RecordingOrigin {
    /// The program that made it, with its version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<String>,
    /// The hardware of the machine that made it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hardware: Option<String>,
    /// The operating system that made it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system: Option<String>,
    /// Comments that the user wrote into the file.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub comments: Vec<String>,
}

/// A bus, and how its messages were captured.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct RecordedBus {
    /// `session`, `system`, or the name in the file; empty if unknown.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// The address of the bus, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// The source of the messages and their times.
    #[serde(default)]
    pub method: CaptureMethod,
    /// The clock of its messages.
    #[serde(default, skip_serializing_if = "RecordedClock::is_wall")]
    pub clock: RecordedClock,
    /// The part of each message that the recording contains.
    #[serde(default, skip_serializing_if = "MessageContent::is_bytes")]
    pub content: MessageContent,
    /// The maximum number of bytes kept of each message; `None` if messages are whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept_max: Option<u32>,
    /// The match rules that selected the messages to record; empty for all messages.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub filters: Vec<String>,
}

/// The method by which messages of a bus were captured. It determines what a recording can show.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "CaptureMethod"))]
#[serde(rename_all = "kebab-case")]
pub enum CaptureMethod {
    /// The recording does not state the method.
    #[default]
    Unknown,
    /// The bus itself wrote a trace with the times of receiving, routing and delivering.
    Trace,
    /// BecomeMonitor: a copy of each message, with the time at which the recorder read the copy.
    Monitor,
    /// Match rules with `eavesdrop`: like a monitor, but replies of the bus are missing.
    Eavesdrop,
}

/// The clock by which the messages of a bus have their times.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RecordedClock {
    /// Messages have times, by the clock of the recording machine.
    #[default]
    Wall,
    /// Messages have no times: all are 0, and only the order of the messages is known.
    Absent,
}

impl RecordedClock {
    fn is_wall(&self) -> bool {
        *self == Self::Wall
    }
}

/// The part of the messages of a bus that a recording contains.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MessageContent {
    /// The bytes of the messages, as they were on the wire.
    #[default]
    Bytes,
    /// The bytes, with bodies redacted to their types and lengths: numbers are 0, and each byte of
    /// a text is `x`. Signals of the bus itself are whole.
    Redacted,
    /// Header fields, read from a text. The bytes were rebuilt from it: flags and sizes differ from
    /// the real messages, bodies are missing, and names of errors may be.
    Headers,
    /// Header fields read from a text, with arguments of the basic types.
    Texts,
}

impl MessageContent {
    fn is_bytes(&self) -> bool {
        *self == Self::Bytes
    }

    /// Returns true if headers and sizes are those on the wire, rather than rebuilt from a text.
    pub const fn is_of_wire(self) -> bool {
        matches!(self, Self::Bytes | Self::Redacted)
    }
}

/// A message as stored in a file. Its content is not validated.
#[derive(Clone, Copy, Debug)]
pub struct RawMessage<'a> {
    /// The time when the message was captured.
    pub at: RecordedTime,
    /// The bus of the message.
    pub bus: BusId,
    /// The first bytes of the message, as many as were kept.
    pub bytes: &'a [u8],
    /// The full length of the message in bytes.
    pub len: u32,
    /// The offset of `bytes` in the file, if the file contains them unchanged.
    pub place: Option<u64>,
    /// The trace that the bus itself wrote about the message.
    pub trace: Option<Trace<'a>>,
}

/// The path of a message through a bus, as that bus recorded it. Times are relative to the time of
/// the message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Trace<'a> {
    /// The times of routing the message.
    pub routing: Routing,
    /// The copies that went to connections.
    pub deliveries: &'a [TracedDelivery],
}

/// The time that a bus took to route a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Routing {
    /// The time from when the bus received the message until it had determined the recipients.
    pub after: Duration,
    /// The durations of the routing stages, if the bus measured them.
    pub stages: Option<Stages>,
}

/// A copy of a message that was queued for a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TracedDelivery {
    /// The number in the recipient's unique name: 7 for `:1.7`.
    pub recipient: u64,
    /// The time from when the bus received the message until it had written the first bytes of this
    /// copy; `None` if unknown.
    pub begun_after: Option<Duration>,
    /// The time from when the bus received the message until it had written all bytes of this copy;
    /// `None` if it was not written.
    pub written_after: Option<Duration>,
    /// The number of the recipient's match rules that selected the message; 0 if the message was
    /// addressed to it. The Diligence bus does not count them in its trace: there it is 1.
    pub rules: u32,
}

/// A fact that a recorder learned in addition to the messages.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "fact", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Fact {
    /// A connection exists on the bus.
    Peer {
        /// The unique name of the connection.
        unique: String,
        /// The process behind it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        process: Option<RecordedProcess>,
    },
    /// The process that runs the bus itself.
    Bus {
        /// The process of the bus.
        process: RecordedProcess,
    },
    /// The counters of a Diligence bus.
    Totals(RecordedTotals),
    /// The time when a process ran on a processor.
    Ran(ProcessorUse),
    /// The processor use of a process was to be recorded, but cannot be.
    Unwatched {
        /// The process ID of the process.
        pid: u32,
        /// The reason, as the system reported it.
        why: String,
    },
    /// A connection belongs to the recorder. Messages from and to it exist only because of the
    /// recording.
    Recorder {
        /// The unique name of the connection.
        unique: String,
    },
    /// A connection has left the bus.
    Left {
        /// The unique name of the connection.
        unique: String,
        /// The reason why the bus disconnected it, as the bus reported it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        why: Option<String>,
    },
    /// The current owner of a well-known name.
    Owner {
        /// The name that has the owner.
        name: String,
        /// The unique name of the owner; `None` if the name has no owner.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        unique: Option<String>,
        /// The time when the owner acquired the name, if the recorder was notified of that.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        since: Option<RecordedTime>,
    },
    /// The bus sent a NameOwnerChanged signal that this recording lacks, because it is an excerpt.
    OwnerChanged {
        /// The unique or well-known name.
        name: String,
        /// The unique name of the previous owner; `None` if there was none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        old: Option<String>,
        /// The unique name of the new owner; `None` if there is none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        new: Option<String>,
    },
    /// The recording is an excerpt: it holds only some of the messages of another one. The time of
    /// the fact is the time of the last record about this bus in the other one.
    Excerpt(Excerpt),
    /// A well-known name is activatable.
    Activatable {
        /// The name that is activatable.
        name: String,
    },
    /// A connection has a match rule.
    Rule {
        /// The unique name of the connection.
        unique: String,
        /// The rule as text.
        rule: String,
        /// The number of times that the connection has added this rule.
        #[serde(default = "once", skip_serializing_if = "is_once")]
        times: u64,
    },
    /// The introspection data of an object.
    Introspection {
        /// The unique or well-known name of the service.
        name: String,
        /// The path of the object.
        path: String,
        /// The XML document of its reply.
        xml: String,
    },
    /// The bus starts a service.
    Starting {
        /// The name of the service.
        name: String,
        /// The unique name of the connection that caused the start.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<String>,
    },
    /// The start of a service has ended.
    Started {
        /// The name of the service.
        name: String,
        /// The reason for a failure, as the bus reported it; `None` if the service acquired the
        /// name.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        failure: Option<String>,
    },
    /// The bus dropped or withheld messages.
    Dropped {
        /// The unique name of the intended recipient.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        recipient: Option<String>,
        /// The reason, as the bus reported it.
        why: String,
        /// The number of messages that were dropped.
        count: u64,
    },
    /// Another program has continued the bus, with all its connections. Messages waited for it.
    Replaced {
        /// The version of the program before.
        old: String,
        /// The version of the program that continues.
        new: String,
        /// How long the bus paused before this time, in nanoseconds.
        paused_ns: u64,
    },
    /// The recorder read messages of this bus late.
    Late(Late),
    /// The recording of this bus ends here properly.
    Ended {
        /// The reason why the recording ended.
        cause: EndCause,
    },
}

/// Counters of a Diligence bus since its start: a part of the result of
/// `org.diligence.Statistics1.GetTotals`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct RecordedTotals {
    /// Messages that the bus received.
    pub messages: u64,
    /// Bytes of the received messages.
    pub bytes: u64,
    /// Bytes that the bus wrote to connections.
    pub written_bytes: u64,
    /// Bytes that the bus copied within its own memory.
    pub copied_bytes: u64,
    /// Messages whose bodies the bus validated.
    pub validated_messages: u64,
    /// Bytes of the validated bodies.
    pub validated_bytes: u64,
}

impl RecordedTotals {
    /// Returns the difference from `earlier` counters; `None` if a counter decreased, as after a
    /// restart of the bus.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Option<Self> {
        self.combined(earlier, u64::checked_sub)
    }

    /// Returns the sum with the counters of another bus; `None` on overflow.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Option<Self> {
        self.combined(other, u64::checked_add)
    }

    fn combined(&self, other: &Self, with: fn(u64, u64) -> Option<u64>) -> Option<Self> {
        Some(Self {
            messages: with(self.messages, other.messages)?,
            bytes: with(self.bytes, other.bytes)?,
            written_bytes: with(self.written_bytes, other.written_bytes)?,
            copied_bytes: with(self.copied_bytes, other.copied_bytes)?,
            validated_messages: with(self.validated_messages, other.validated_messages)?,
            validated_bytes: with(self.validated_bytes, other.validated_bytes)?,
        })
    }
}

/// Messages that waited until the recorder read them, because it was stopped or had no processor.
/// They have the times of reading.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Late {
    /// The last time at which the recorder is known to have kept up. The messages came after that.
    pub from: RecordedTime,
    /// The time when the recorder resumed reading.
    pub resumed: RecordedTime,
    /// The time when the recorder had read all waiting messages.
    pub until: RecordedTime,
    /// The maximum time that a message waited, in nanoseconds.
    pub by_ns: u64,
    /// The number of messages read from `resumed` to `until`.
    pub messages: u64,
}

impl Late {
    /// Returns the maximum time that a message waited.
    pub const fn by(&self) -> Duration {
        Duration::from_nanos(self.by_ns)
    }

    /// Returns the time that the recorder needed to catch up after it resumed reading.
    pub fn catching_up(&self) -> Duration {
        self.until.since(self.resumed).unwrap_or_default()
    }
}

worded_enum! {
    /// The reasons why a recording ends.
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum EndCause {
        /// The user stopped the recorder.
        Asked = "the user stopped it",
        /// The recorded command exited.
        Command = "the command ended",
        /// The trigger wrote the file, and the recording continued.
        Trigger = "the trigger wrote the file",
        /// The recording reached its time limit.
        Time = "the time limit was reached",
        /// The recording reached its size limit.
        Size = "the size limit was reached",
        /// The connection to the last bus was lost.
        NoBus = "the last bus disconnected",
        /// Writing the recording failed.
        Broken = "writing the file failed",
    }
}

/// Writes the end of a sentence that begins with "until": `the command ended`.
impl fmt::Display for EndCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The part of the messages of a bus that was copied from another recording.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Excerpt {
    /// The query that selected the messages, as the user wrote it; empty if unknown.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub query: String,
    /// The number of messages that were copied.
    pub messages: u64,
    /// The number of messages in the other recording.
    pub of: u64,
    /// The number of omitted calls that cannot be paired with replies, because their headers are
    /// cut.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cut_calls: u64,
    /// The number of omitted replies that cannot be paired with calls, because their headers are
    /// cut.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cut_replies: u64,
    /// The number of omitted signals that are cut, and may therefore hide that a connection left.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cut_signals: u64,
}

/// The processor use of a process in a period, as reported by the kernel. The next period of the
/// same process follows immediately.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct ProcessorUse {
    /// The process ID of the process.
    pub pid: u32,
    /// The start of the period.
    pub from: RecordedTime,
    /// The end of the period.
    pub until: RecordedTime,
    /// The times at which one of its threads ran: the start, in nanoseconds since `from`, and the
    /// length in nanoseconds. Ascending and disjoint.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub spans: Vec<(u64, u64)>,
    /// The number of times that a thread was scheduled.
    #[serde(default)]
    pub resumed: u64,
    /// The number of times that a runnable thread was preempted.
    #[serde(default)]
    pub preempted: u64,
    /// The total nanoseconds that preempted threads waited to run again.
    #[serde(default)]
    pub held_up_ns: u64,
    /// The number of context switches that were lost to a full buffer; `spans` lacks them.
    #[serde(default)]
    pub lost: u64,
    /// The number of threads that were not followed: they exited soon after they started, or the
    /// limit of followed threads was reached. `spans` lacks their times.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unfollowed: u64,
}

const fn once() -> u64 {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
const fn is_zero(count: &u64) -> bool {
    *count == 0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
const fn is_once(times: &u64) -> bool {
    *times == 1
}

/// A process that has a connection. Facts that could not be read are absent.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "ProcessFacts"))]
pub struct RecordedProcess {
    /// The process ID of the process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
    /// The user ID that it runs as.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uid: Option<u32>,
    /// The short name that the kernel keeps, `comm`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comm: Option<String>,
    /// The path of its executable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exe: Option<String>,
    /// The arguments of its command line, with the program first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub command: Vec<String>,
    /// The systemd unit of the process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    /// The control group of the process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cgroup: Option<String>,
    /// The time when the process was started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started: Option<RecordedTime>,
}

impl RecordedProcess {
    /// Returns these facts, with absent ones taken from `known`.
    #[must_use]
    pub fn or(self, known: Self) -> Self {
        Self {
            pid: self.pid.or(known.pid),
            uid: self.uid.or(known.uid),
            comm: self.comm.or(known.comm),
            exe: self.exe.or(known.exe),
            command: if self.command.is_empty() { known.command } else { self.command },
            unit: self.unit.or(known.unit),
            cgroup: self.cgroup.or(known.cgroup),
            started: self.started.or(known.started),
        }
    }
}

/// A point of a recording at which messages are missing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RecordingGap {
    /// The time when the gap began, if known.
    pub at: Option<RecordedTime>,
    /// The bus whose messages are missing.
    pub bus: BusId,
    /// The reason why the messages are missing.
    pub cause: GapCause,
    /// The number of missing messages, if it was counted.
    pub lost: Option<u64>,
}

/// The reason why messages are missing.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GapCause {
    /// The recorder did not read as fast as the bus wrote.
    Overrun,
    /// The bus disconnected the recorder.
    Disconnected,
    /// The disk of the file was full.
    DiskFull,
    /// The file is truncated: it ends within its last record.
    CutFile,
    /// The file states that its recorder lost messages.
    RecorderLost,
}

/// A part of a file that cannot be read and is skipped.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Damage {
    /// The offset in bytes from the start of the file.
    pub at: u64,
    /// A description of the damage.
    pub what: String,
}
