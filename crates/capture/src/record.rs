//! What a recording is made of, whichever format it has.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

pub use ::trace::record::Stages;

/// A point in time: nanoseconds since 1970 by the clock of the machine that recorded.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize,
)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "Time"))]
#[serde(transparent)]
pub struct RecordedTime(pub i64);

impl RecordedTime {
    /// How much later than `earlier` this is; `None` if it is not, as when a clock was set back.
    pub fn since(self, earlier: Self) -> Option<Duration> {
        let nanos = self.0.checked_sub(earlier.0)?;
        u64::try_from(nanos).ok().map(Duration::from_nanos)
    }

    /// This much earlier.
    pub fn before(self, span: Duration) -> Self {
        Self(self.0.saturating_sub(i64::try_from(span.as_nanos()).unwrap_or(i64::MAX)))
    }

    /// This much later.
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

/// The first and the last of some times.
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

    /// The last time; 0 if there is none.
    pub(crate) fn last(&self) -> RecordedTime {
        self.ends.map(|(_, last)| last).unwrap_or_default()
    }

    /// Whether another stretch of time has a point in common with this one.
    pub(crate) fn overlaps(&self, from: RecordedTime, until: RecordedTime) -> bool {
        self.ends.is_some_and(|(first, last)| from <= last && first <= until)
    }
}

/// A span in nanoseconds, or the largest number if it is longer.
pub fn nanos(span: Duration) -> u64 {
    u64::try_from(span.as_nanos()).unwrap_or(u64::MAX)
}

const NANOS: i64 = 1_000_000_000;

/// One of the buses in a recording, in the order in which the recording names them.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct BusId(pub u16);

/// The next thing that a recording says.
#[derive(Clone, Debug)]
pub enum RecordingRecord<'a> {
    /// Who made the recording, on what.
    Origin(RecordingOrigin),
    /// A bus of which messages follow.
    Bus(RecordedBus),
    /// A message.
    Message(RawMessage<'a>),
    /// Something about a name, a process, a rule that the recorder has learnt.
    Fact {
        /// When it became so, or was found so.
        at: RecordedTime,
        /// On which bus.
        bus: BusId,
        /// What.
        fact: Fact,
    },
    /// Messages are missing here.
    Gap(RecordingGap),
    /// Something stands in the file that cannot be read.
    Damage(Damage),
}

/// Who made a recording.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct RecordingOrigin {
    /// The program, with its version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<String>,
    /// The machine it ran on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hardware: Option<String>,
    /// The system it ran on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system: Option<String>,
    /// What somebody wrote into the file.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub comments: Vec<String>,
}

/// A bus, and how it was listened to.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct RecordedBus {
    /// `session`, `system`, or what the file calls it; empty if nothing is known.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// The address, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// Where the messages and their times come from.
    #[serde(default)]
    pub method: CaptureMethod,
    /// Whether its messages have times.
    #[serde(default, skip_serializing_if = "RecordedClock::is_wall")]
    pub clock: RecordedClock,
    /// What there is of each message.
    #[serde(default, skip_serializing_if = "MessageContent::is_bytes")]
    pub content: MessageContent,
    /// Bytes kept of each message; `None` is all of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept_max: Option<u32>,
    /// Which messages were asked for; empty is all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub filters: Vec<String>,
}

/// How a bus was listened to. It decides what a recording can tell.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "CaptureMethod"))]
#[serde(rename_all = "kebab-case")]
pub enum CaptureMethod {
    /// The recording does not say.
    #[default]
    Unknown,
    /// The bus itself wrote when it received, routed and delivered.
    Trace,
    /// BecomeMonitor: a copy of each message; times are those at which the copy was read.
    Monitor,
    /// Rules with `eavesdrop`: as with a monitor, but replies of the bus are missing.
    Eavesdrop,
}

/// Whether the messages of a bus have times.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RecordedClock {
    /// They have, by the clock of the machine that recorded.
    #[default]
    Wall,
    /// They have none: all times are 0, and only the order of the messages is known.
    Absent,
}

impl RecordedClock {
    fn is_wall(&self) -> bool {
        *self == Self::Wall
    }
}

/// What a recording has of the messages of a bus.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MessageContent {
    /// Their bytes, as they were on the wire.
    #[default]
    Bytes,
    /// The same, but of what bodies say only types and lengths: numbers are 0, texts so many `x`.
    /// Signals of the bus itself are whole.
    Redacted,
    /// Fields of their headers, as a text. The bytes were made from that: flags and sizes are not
    /// those of the messages, names of errors may be missing, and bodies are.
    Headers,
    /// As before, and arguments of the simplest types.
    Texts,
}

impl MessageContent {
    fn is_bytes(&self) -> bool {
        *self == Self::Bytes
    }

    /// Whether headers and sizes are those that were on the wire, rather than made from a text.
    pub const fn is_of_wire(self) -> bool {
        matches!(self, Self::Bytes | Self::Redacted)
    }
}

/// A message as a format holds it: nothing in it has been checked.
#[derive(Clone, Copy, Debug)]
pub struct RawMessage<'a> {
    /// When.
    pub at: RecordedTime,
    /// On which bus.
    pub bus: BusId,
    /// The bytes that were kept, from the first one on.
    pub bytes: &'a [u8],
    /// How many bytes the message had.
    pub len: u32,
    /// Where `bytes` stand in the file, if they stand there as they are.
    pub place: Option<u64>,
    /// What the bus itself wrote about it.
    pub trace: Option<Trace<'a>>,
}

/// The way of a message through a bus, written by that bus. Times are by the clock of the message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Trace<'a> {
    /// How the bus routed it.
    pub routing: Routing,
    /// Each copy.
    pub deliveries: &'a [TracedDelivery],
}

/// How long a bus took to route a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Routing {
    /// From when the bus received the message until it had decided who gets it.
    pub after: Duration,
    /// How long the parts of that took, if the bus measured them.
    pub stages: Option<Stages>,
}

/// A copy of a message that went to a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TracedDelivery {
    /// The number in the recipient's unique name: 7 for `:1.7`.
    pub recipient: u64,
    /// From when the bus received the message until the first bytes of this copy had left it; `None` if
    /// that is not known.
    pub begun_after: Option<Duration>,
    /// From when the bus received the message until all bytes of this copy had left it; `None` if it
    /// was not written.
    pub written_after: Option<Duration>,
    /// How many of the recipient's match rules asked for it; 0 if it was addressed to it. The trace of
    /// our bus does not count them: it says 1.
    pub rules: u32,
}

/// What a recorder has learnt beside the messages.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "fact", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Fact {
    /// A connection is there.
    Peer {
        /// Its unique name.
        unique: String,
        /// The process behind it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        process: Option<RecordedProcess>,
    },
    /// The bus itself is this process.
    Bus {
        /// The process.
        process: RecordedProcess,
    },
    /// What a bus of ours has counted so far.
    Totals(RecordedTotals),
    /// When a process had a processor.
    Ran(ProcessorUse),
    /// When a process had a processor was to be recorded, and cannot be.
    Unwatched {
        /// Its number.
        pid: u32,
        /// Why, in the words of the system.
        why: String,
    },
    /// A connection is the recorder's own: what it says and gets would not be there without it.
    Recorder {
        /// Its unique name.
        unique: String,
    },
    /// A connection is gone.
    Left {
        /// Its unique name.
        unique: String,
        /// Why the bus ended it, in its words.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        why: Option<String>,
    },
    /// A well-known name has this owner.
    Owner {
        /// The name.
        name: String,
        /// The unique name of the owner; `None` if there is none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        unique: Option<String>,
        /// Since when, if the recorder was told when the owner took the name.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        since: Option<RecordedTime>,
    },
    /// The bus has sent a NameOwnerChanged signal, which is not in this recording: it is an excerpt.
    OwnerChanged {
        /// The name, unique or well-known.
        name: String,
        /// The unique name of the owner before; `None` if there was none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        old: Option<String>,
        /// The unique name of the owner from then on; `None` if there is none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        new: Option<String>,
    },
    /// The recording holds only some of the messages of another one. The time is that of the last thing
    /// that the other one has of this bus.
    Excerpt(Excerpt),
    /// A name can be started.
    Activatable {
        /// The name.
        name: String,
    },
    /// A connection has a match rule.
    Rule {
        /// Its unique name.
        unique: String,
        /// The rule as text.
        rule: String,
        /// How often it has that rule.
        #[serde(default = "once", skip_serializing_if = "is_once")]
        times: u64,
    },
    /// An object was asked what it has.
    Introspection {
        /// The unique or well-known name.
        name: String,
        /// The object.
        path: String,
        /// The document that it answered with.
        xml: String,
    },
    /// A service is started.
    Starting {
        /// The name.
        name: String,
        /// Who asked for it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<String>,
    },
    /// What came of starting a service.
    Started {
        /// The name.
        name: String,
        /// What went wrong, in the words of the bus; `None` if the name is owned.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        failure: Option<String>,
    },
    /// The bus has kept a message from somebody.
    Dropped {
        /// The unique name of who should have got it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        recipient: Option<String>,
        /// Why, in the words of the bus.
        why: String,
        /// How many messages.
        count: u64,
    },
    /// Messages of this bus were read late.
    Late(Late),
    /// The recording of this bus ends here as it should.
    Ended {
        /// Why.
        cause: EndCause,
    },
}

/// What a bus of ours has counted since it started: parts of what
/// `org.diligence.Statistics1.GetTotals` returns.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct RecordedTotals {
    /// Messages that the bus received.
    pub messages: u64,
    /// Bytes of these messages.
    pub bytes: u64,
    /// Bytes that it wrote to connections.
    pub written_bytes: u64,
    /// Bytes that it copied within its own memory.
    pub copied_bytes: u64,
    /// Messages whose bodies it validated.
    pub validated_messages: u64,
    /// Bytes of these bodies.
    pub validated_bytes: u64,
}

impl RecordedTotals {
    /// What was counted after `earlier`; `None` if the bus has started anew.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Option<Self> {
        self.combined(earlier, u64::checked_sub)
    }

    /// The same with what another bus counted; `None` if the sum is too large.
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

/// Messages that had to wait until the recorder read them, because it was stopped or had no processor. Their
/// times are those of reading.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Late {
    /// The recorder kept up until then, as far as it knows. The messages came after that.
    pub from: RecordedTime,
    /// When it went on to read.
    pub resumed: RecordedTime,
    /// When it had read everything that waited.
    pub until: RecordedTime,
    /// Nanoseconds that a message has waited at most.
    pub by_ns: u64,
    /// How many messages were read from `resumed` to `until`.
    pub messages: u64,
}

impl Late {
    /// How long a message has waited at most.
    pub const fn by(&self) -> Duration {
        Duration::from_nanos(self.by_ns)
    }

    /// From when the recorder went on to read until it had caught up.
    pub fn catching_up(&self) -> Duration {
        self.until.since(self.resumed).unwrap_or_default()
    }
}

worded_enum! {
    /// Why a recording ends.
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum EndCause {
        /// Somebody asked the recorder to end.
        Asked = "somebody ended it",
        /// The command that was recorded has ended.
        Command = "the command ended",
        /// The trigger wrote the file, and the recording went on.
        Trigger = "the trigger wrote it",
        /// It was to be no longer.
        Time = "its time was over",
        /// It was to be no larger.
        Size = "it was as large as it was to be",
        /// No bus was left.
        NoBus = "no bus was left",
        /// It could not be written any more.
        Broken = "it could not be written any more",
    }
}

/// Until when it was recorded: `the command ended`.
impl fmt::Display for EndCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Which of the messages of a bus were taken over from another recording.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Excerpt {
    /// What selected them, in the words of the person who saved them; empty if it is not known.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub query: String,
    /// How many messages were taken over.
    pub messages: u64,
    /// How many the other recording has.
    pub of: u64,
    /// Calls that were left out and cannot be paired with replies, because their headers are cut.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cut_calls: u64,
    /// The same of replies.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cut_replies: u64,
    /// Signals that were left out and are cut, so that they may hide that a connection left.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cut_signals: u64,
}

/// When a process had a processor, as the kernel saw it: a stretch of time, behind which comes the next
/// one of the same process.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct ProcessorUse {
    /// The number of the process.
    pub pid: u32,
    /// When the stretch begins.
    pub from: RecordedTime,
    /// When it ends.
    pub until: RecordedTime,
    /// Each time at which one of its threads had a processor: nanoseconds since `from`, and for how
    /// many; ascending, and apart.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub spans: Vec<(u64, u64)>,
    /// How often a thread got a processor.
    #[serde(default)]
    pub resumed: u64,
    /// How often a thread lost it although it had something to do.
    #[serde(default)]
    pub preempted: u64,
    /// Nanoseconds until those threads had one again, all together.
    #[serde(default)]
    pub held_up_ns: u64,
    /// Switches for which there was no room; then `spans` lacks some.
    #[serde(default)]
    pub lost: u64,
    /// Threads that are not followed: they ended soon after they began, or there is no room for them.
    /// Then `spans` lacks theirs.
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

/// A process that has a connection. What could not be learnt is absent.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "ProcessFacts"))]
pub struct RecordedProcess {
    /// Its number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
    /// The user it runs as.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uid: Option<u32>,
    /// The short name that the kernel keeps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comm: Option<String>,
    /// The file it runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exe: Option<String>,
    /// The words of its command line.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub command: Vec<String>,
    /// The systemd unit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    /// The control group.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cgroup: Option<String>,
    /// When it was started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started: Option<RecordedTime>,
}

impl RecordedProcess {
    /// The same with what `known` tells besides.
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

/// A place where messages are missing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RecordingGap {
    /// When it began, if that is known.
    pub at: Option<RecordedTime>,
    /// On which bus.
    pub bus: BusId,
    /// Why.
    pub cause: GapCause,
    /// How many messages, if they were counted.
    pub lost: Option<u64>,
}

/// Why messages are missing.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GapCause {
    /// The recorder did not read as fast as the bus wrote.
    Overrun,
    /// The bus ended the connection of the recorder.
    Disconnected,
    /// There was no room for the file.
    DiskFull,
    /// The file is cut: it ends before the end of its last record.
    CutFile,
    /// The file says that its recorder lost messages.
    RecorderLost,
}

/// Something in a file that cannot be read, and is passed over.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Damage {
    /// Where, in bytes from the start of the file.
    pub at: u64,
    /// What is wrong there.
    pub what: String,
}
