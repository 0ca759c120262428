//! A recording as frames: first the whole recording, then the new messages while it grows.
//!
//! Each frame has some ten thousand messages, and the connections and texts that they name.
//! Therefore the page can draw before it has all frames.

use std::collections::HashMap;
use std::time::Duration;

use capture::Capture;
use capture::model::{CapturedMessage, PeerRole, RecordedPeer, RecordedPeerId};
use capture::record::{
    BusId, CaptureMethod, Fact, MessageContent, RecordedProcess, RecordedTime, nanos,
};
use serde::Serialize;
use wire::message::MessageType;

use crate::frame::{ColumnName, FrameColumn, FrameHead, PageFrame};
use crate::selection::start;

/// The position in a recording up to which its content was sent.
#[derive(Debug, Default)]
pub struct Feed {
    messages: usize,
    strings: usize,
    /// The connections as they were last sent, so that only changed ones are sent again.
    peers: Vec<PeerEntry>,
    /// The indexes of connections, by bus and number of the unique name.
    recipients: HashMap<(BusId, u64), u32>,
}

/// The JSON of a frame with messages. Rows, strings and peers are numbered from 0 over all frames.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MessagesHead<'c> {
    /// Row of the first message of this frame.
    pub first: usize,
    /// The number of messages in this frame.
    pub count: usize,
    /// The number of messages in the recording so far.
    pub total: usize,
    /// Time of the first message of the recording: nanoseconds since 1970, as digits.
    pub start_ns: String,
    /// Time of the first message of this frame, in nanoseconds since the first message of the
    /// recording, if the column `step` is present.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<f64>,
    /// The index of the first text in `strings`.
    pub first_string: usize,
    /// Texts that were not sent before.
    pub strings: Vec<&'c str>,
    /// Connections that are new or have changed.
    pub peers: Vec<PeerEntry>,
    /// Files that the recording was read from.
    pub files: Vec<String>,
    /// All buses of the recording.
    pub buses: Vec<BusEntry>,
    /// Times that do not fit into 32 bits: the column, the row within this frame, and nanoseconds.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub long: Vec<LongTime>,
}

/// A connection. Times are nanoseconds since the first message.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "Peer"))]
pub struct PeerEntry {
    /// The index of the connection in this recording.
    pub id: usize,
    /// The index of its bus.
    pub bus: u16,
    /// The unique name of the connection.
    pub unique: String,
    /// Well-known names that it has owned.
    pub names: Vec<String>,
    /// A well-known name, or the program with the unique name, or only the unique name.
    pub label: String,
    /// The process that has the connection, if it is known.
    pub process: Option<ProcessEntry>,
    /// The time when it connected, if recorded.
    pub arrived: Option<i64>,
    /// The time when it disconnected, if recorded.
    pub left: Option<i64>,
    /// The reason why the bus disconnected it.
    pub why: Option<String>,
    /// True if the connection exists only to make the recording.
    pub recorder: bool,
}

/// The process of a connection. Unknown facts are `None`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "Process"))]
pub struct ProcessEntry {
    /// The process id (pid).
    pub pid: Option<u32>,
    /// The user id (uid).
    pub uid: Option<u32>,
    /// The usual name of the program.
    pub program: Option<String>,
    /// Path of the executable.
    pub exe: Option<String>,
    /// The words of the command line.
    pub command: Vec<String>,
    /// The systemd unit of the process.
    pub unit: Option<String>,
}

/// A bus, and how it was captured.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "Bus"))]
pub struct BusEntry {
    /// The name of the bus on the page.
    pub label: String,
    /// The address of the bus, if it is known.
    pub address: Option<String>,
    /// The method by which its messages were captured.
    pub method: CaptureMethod,
    /// True if the contents of its messages were redacted.
    pub redacted: bool,
    /// The index of the file that it was read from.
    pub file: usize,
    /// The times at which another program had continued the bus.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub replacements: Vec<ReplacementEntry>,
}

/// A replacement of the program of a bus.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "BusReplacement"))]
pub struct ReplacementEntry {
    /// Nanoseconds since the first message of the recording, when the bus had continued.
    pub at: i64,
    /// How long the bus paused before that, in nanoseconds.
    pub paused_ns: u64,
    /// The version of the program before.
    pub old: String,
    /// The version of the program that continues.
    pub new: String,
}

impl Feed {
    /// Returns the next frame of `capture`, which must be the same recording each time but may have
    /// grown; `None` if there is no new content.
    pub fn next(&mut self, capture: &Capture) -> Option<PageFrame> {
        let peers = self.peers(capture);
        let end = capture.len().min(self.messages + MESSAGES_MAX);
        let strings = self.strings(capture);
        if peers.is_empty() && strings.is_empty() && end == self.messages {
            return None;
        }
        let rows = self.rows(capture, end);
        let steps = rows.steps();
        let (first, first_string) = (self.messages, self.strings);
        self.strings += strings.len();
        self.messages = end;
        let head = FrameHead::Messages(MessagesHead {
            first,
            count: end - first,
            total: capture.len(),
            start_ns: start(capture).0.to_string(),
            at: steps.is_some().then(|| rows.at.first().copied()).flatten(),
            first_string,
            strings,
            peers,
            files: capture.files().map(|path| path.display().to_string()).collect(),
            buses: buses(capture),
            long: rows.long.clone(),
        });
        Some(rows.put(PageFrame::new(&head), steps.as_deref()))
    }

    /// Texts that were not sent yet, in the order of their numbers.
    fn strings<'c>(&self, capture: &'c Capture) -> Vec<&'c str> {
        capture.strings().iter().skip(self.strings).collect()
    }

    /// Connections that are new or have changed.
    fn peers(&mut self, capture: &Capture) -> Vec<PeerEntry> {
        let mut changed = Vec::new();
        for (id, found) in capture.directory().peers() {
            let entry = PeerEntry::of(capture, id, found);
            match self.peers.get_mut(id.index()) {
                Some(known) if *known == entry => continue,
                Some(known) => *known = entry.clone(),
                None => self.peers.push(entry.clone()),
            }
            changed.push(entry);
        }
        changed
    }

    fn rows(&mut self, capture: &Capture, end: usize) -> MessageRows {
        let mut rows = MessageRows::default();
        let start = start(capture);
        for message in capture.messages_from(self.messages).take(end - self.messages) {
            rows.push(&message, start);
            let copies: Vec<_> = message.copies().into_iter().flatten().collect();
            rows.copies.push(copies.len() as u32);
            for copy in copies {
                rows.recipients.push(self.recipient(capture, message.bus(), copy.recipient));
            }
        }
        rows
    }

    /// The connection with this number. Only known connections are cached, because an unknown one
    /// may be known for the next message.
    fn recipient(&mut self, capture: &Capture, bus: BusId, number: u64) -> u32 {
        if let Some(&known) = self.recipients.get(&(bus, number)) {
            return known;
        }
        let unique = capture.strings().find(&format!(":1.{number}"));
        let peer = unique.and_then(|unique| capture.directory().by_unique(bus, unique));
        if peer.is_some() {
            self.recipients.insert((bus, number), index(peer));
        }
        index(peer)
    }
}

impl PeerEntry {
    fn of(capture: &Capture, id: RecordedPeerId, peer: &RecordedPeer) -> Self {
        let text = |id| capture.strings().get(id).to_owned();
        let since_start = |at: Option<RecordedTime>| at.map(|at| at.0 - start(capture).0);
        Self {
            id: id.index(),
            bus: peer.bus.0,
            unique: text(peer.unique),
            names: peer.names.iter().map(|&name| text(name)).collect(),
            label: capture.label(id).into(),
            process: peer.process.as_ref().map(ProcessEntry::of),
            arrived: since_start(peer.arrived),
            left: since_start(peer.left),
            why: peer.why.clone(),
            recorder: peer.role == PeerRole::Recorder,
        }
    }
}

impl ProcessEntry {
    fn of(process: &RecordedProcess) -> Self {
        Self {
            pid: process.pid,
            uid: process.uid,
            program: process.program().map(str::to_owned),
            exe: process.exe.clone(),
            command: process.command.clone(),
            unit: process.unit.clone(),
        }
    }
}

fn buses(capture: &Capture) -> Vec<BusEntry> {
    let entry = |(index, bus): (usize, &capture::record::RecordedBus)| {
        let id = BusId(index as u16);
        BusEntry {
            label: capture.bus_label(id).into(),
            address: bus.address.clone(),
            method: bus.method,
            redacted: bus.content == MessageContent::Redacted,
            file: capture.file_of(id),
            replacements: replacements(capture, id),
        }
    };
    capture.buses().iter().enumerate().map(entry).collect()
}

fn replacements(capture: &Capture, of: BusId) -> Vec<ReplacementEntry> {
    let facts = capture.facts().iter().filter(|(_, bus, _)| *bus == of);
    let entry = |(at, _, fact): &(RecordedTime, BusId, Fact)| match fact {
        Fact::Replaced { old, new, paused_ns } => Some(ReplacementEntry {
            at: at.0 - start(capture).0,
            paused_ns: *paused_ns,
            old: old.clone(),
            new: new.clone(),
        }),
        _ => None,
    };
    facts.filter_map(entry).collect()
}

/// Messages as columns of numbers.
#[derive(Debug, Default)]
struct MessageRows {
    at: Vec<f64>,
    kind: Vec<u32>,
    flags: Vec<u32>,
    health: Vec<u32>,
    bus: Vec<u32>,
    from: Vec<u32>,
    to: Vec<u32>,
    destination: Vec<u32>,
    path: Vec<u32>,
    interface: Vec<u32>,
    member: Vec<u32>,
    answers: Vec<u32>,
    size: Vec<u32>,
    routed: Vec<u32>,
    delivered: Vec<u32>,
    copies: Vec<u32>,
    recipients: Vec<u32>,
    /// Times that do not fit into their columns.
    long: Vec<LongTime>,
}

/// A time that does not fit into its column: the column, the row within the frame, and nanoseconds.
type LongTime = (ColumnName, usize, u64);

impl MessageRows {
    fn push(&mut self, message: &CapturedMessage<'_>, start: RecordedTime) {
        self.at.push((message.at().0 - start.0) as f64);
        self.kind.push(kind(message.kind()));
        self.flags.push(message.flags().bits().into());
        self.health.push(message.health() as u32);
        self.bus.push(message.bus().0.min(u8::MAX.into()).into());
        self.from.push(index(message.from()));
        self.to.push(index(message.to()));
        self.destination.push(message.destination_id().index() as u32);
        self.path.push(message.path_id().index() as u32);
        self.interface.push(message.interface_id().index() as u32);
        self.member.push(message.member_id().index() as u32);
        self.answers.push(answers(message));
        self.size.push(message.len());
        let routed = self.nanos(ColumnName::Routed, message.routed_after());
        self.routed.push(routed);
        let delivered = self.nanos(ColumnName::Delivered, delivered(message));
        self.delivered.push(delivered);
    }

    /// The value of a time column for the next row. A time that is too long for it goes into
    /// `long`.
    fn nanos(&mut self, column: ColumnName, time: Option<Duration>) -> u32 {
        let Some(time) = time else { return NONE };
        let nanos = nanos(time);
        let short = u32::try_from(nanos).ok().filter(|&nanos| nanos < LONG);
        if short.is_none() {
            self.long.push((column, self.at.len() - 1, nanos));
        }
        short.unwrap_or(LONG)
    }

    /// Appends all columns to a frame.
    fn put(&self, frame: PageFrame, steps: Option<&[u32]>) -> PageFrame {
        let frame = match steps {
            Some(steps) => frame.with_column(ColumnName::Step, FrameColumn::Packed(steps)),
            None => frame.with_column(ColumnName::At, FrameColumn::F64(&self.at)),
        };
        frame
            .with_column(ColumnName::Kind, FrameColumn::Packed(&self.kind))
            .with_column(ColumnName::Flags, FrameColumn::Packed(&self.flags))
            .with_column(ColumnName::Health, FrameColumn::Packed(&self.health))
            .with_column(ColumnName::Bus, FrameColumn::Packed(&self.bus))
            .with_column(ColumnName::From, FrameColumn::Packed(&self.from))
            .with_column(ColumnName::To, FrameColumn::Packed(&self.to))
            .with_column(ColumnName::Destination, FrameColumn::Packed(&self.destination))
            .with_column(ColumnName::Path, FrameColumn::Packed(&self.path))
            .with_column(ColumnName::Interface, FrameColumn::Packed(&self.interface))
            .with_column(ColumnName::Member, FrameColumn::Packed(&self.member))
            .with_column(ColumnName::Answers, FrameColumn::Packed(&self.answers))
            .with_column(ColumnName::Size, FrameColumn::Packed(&self.size))
            .with_column(ColumnName::Routed, FrameColumn::Packed(&self.routed))
            .with_column(ColumnName::Delivered, FrameColumn::Packed(&self.delivered))
            .with_column(ColumnName::Copies, FrameColumn::Packed(&self.copies))
            .with_column(ColumnName::Recipients, FrameColumn::Packed(&self.recipients))
    }

    /// Times from each message to the next; `None` if there are no messages, or if one of these
    /// times does not fit.
    fn steps(&self) -> Option<Vec<u32>> {
        let before = self.at.first()?;
        let before = std::iter::once(before).chain(&self.at);
        self.at.iter().zip(before).map(|(at, before)| short(at - before)).collect()
    }
}

/// The time until the destination got the message; without a destination, until the last recipient
/// got it.
fn delivered(message: &CapturedMessage<'_>) -> Option<Duration> {
    let copies = message.deliveries()?;
    let addressed = copies.iter().find(|copy| copy.rules == 0);
    match addressed {
        Some(copy) => copy.written_after,
        None => copies.iter().filter_map(|copy| copy.written_after).max(),
    }
}

/// A step that is not negative and shorter than four seconds.
fn short(step: f64) -> Option<u32> {
    (0.0..f64::from(NONE)).contains(&step).then_some(step as u32)
}

/// The number of rows between a reply and its call.
fn answers(message: &CapturedMessage<'_>) -> u32 {
    let call = message.partner().map(|call| call.id().index());
    let before = call.and_then(|call| message.id().index().checked_sub(call));
    before.map_or(NONE, |before| before as u32)
}

/// The number of a message type on the wire; 0 for types that the specification does not define.
const fn kind(kind: MessageType) -> u32 {
    match kind {
        MessageType::MethodCall => 1,
        MessageType::MethodReturn => 2,
        MessageType::Error => 3,
        MessageType::Signal => 4,
        MessageType::Unknown(_) => 0,
    }
}

fn index(peer: Option<RecordedPeerId>) -> u32 {
    peer.map_or(NONE, |peer| peer.index() as u32)
}

/// Represents an absent connection, reply or time.
const NONE: u32 = u32::MAX;

/// Represents a time in `long`, for example if the bus held the call while its service started.
const LONG: u32 = NONE - 1;

/// The maximum number of messages in one frame.
const MESSAGES_MAX: usize = 65_536;

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use testkit::recording::TestRecording;

    use super::*;

    fn json_of(frame: PageFrame) -> Value {
        let bytes = frame.into_bytes();
        let len = u32::from_le_bytes(bytes[4..8].try_into().unwrap()) as usize;
        serde_json::from_slice(&bytes[8..8 + len]).unwrap()
    }

    #[test]
    fn strings_and_peers_are_sent_once() {
        let mut recording = TestRecording::new();
        recording.owner("org.example.Mail", ":1.6");
        let call = recording.call(":1.5", "org.example.Mail", "/ org.example.Mail.Get", &());
        let mut feed = Feed::default();
        let first = json_of(feed.next(&recording.capture()).unwrap());
        assert_eq!((&first["first"], &first["count"]), (&0.into(), &1.into()));
        assert_eq!(first["files"], json!([]), "it was read from no file");
        let uniques = |sent: &Value| {
            let peers = sent["peers"].as_array().unwrap().iter();
            peers.map(|peer| peer["unique"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
        };
        assert!(uniques(&first).contains(&":1.5".to_owned()), "{first}");
        assert!(feed.next(&recording.capture()).is_none());
        recording.wait_ms(3).reply(&call, ":1.6", &());
        let second = json_of(feed.next(&recording.capture()).unwrap());
        assert_eq!((&second["first"], &second["count"]), (&1.into(), &1.into()));
        assert_eq!(uniques(&second), [""; 0], "no connection has changed");
        assert!(feed.next(&recording.capture()).is_none());
    }

    /// A call that the bus held for six seconds while its service started.
    #[test]
    fn times_of_more_than_four_seconds_are_sent_exactly() {
        let mut recording = TestRecording::new();
        let sent = |recording: &TestRecording| {
            let frame = Feed::default().next(&recording.capture()).expect("a message");
            json_of(frame)["long"].clone()
        };
        recording.call(":1.5", "org.x.Late", "/l org.x.Late.Get", &());
        recording.delivered(4_294_967, &[(7, 4_294_967, 0)]);
        assert_eq!(sent(&recording), Value::Null);
        recording.call(":1.5", "org.x.Late", "/l org.x.Late.Get", &());
        recording.delivered(6_000_010, &[(7, 6_000_020, 0)]);
        let expected =
            json!([["routed", 1, 6_000_010_000_u64], ["delivered", 1, 6_000_020_000_u64]]);
        assert_eq!(sent(&recording), expected);
    }
}
