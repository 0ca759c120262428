//! A recording told from its beginning, and on while it grows.
//!
//! First who is there and what texts messages have, then the messages, some ten thousands at a time, so
//! that a page draws before it has all of them.

use std::collections::HashMap;
use std::time::Duration;

use capture::Capture;
use capture::model::{Message, Peer, PeerId, Role};
use capture::record::{BusId, Content, Method, Process, Time, nanos};
use serde_json::{Value, json};
use wire::message::MessageType;

use crate::frame::{Column, Frame};
use crate::selection::start;

/// How far a recording was told.
#[derive(Debug, Default)]
pub struct Feed {
    messages: usize,
    strings: usize,
    /// What was told of connections, to tell again only if it is otherwise.
    peers: Vec<Value>,
    /// By bus and number of a unique name.
    recipients: HashMap<(BusId, u64), u32>,
}

impl Feed {
    /// What comes next of `capture`, which is the same one each time, grown perhaps; `None` if there is
    /// nothing new.
    pub fn next(&mut self, capture: &Capture) -> Option<Frame> {
        let peers = self.peers(capture);
        let end = capture.len().min(self.messages + MESSAGES_MAX);
        let strings = self.strings(capture);
        if peers.is_empty() && strings.is_empty() && end == self.messages {
            return None;
        }
        let rows = self.rows(capture, end);
        let frame = Frame::new("messages")
            .with("first", self.messages)
            .with("count", end - self.messages)
            .with("total", capture.len())
            .with("start_ns", start(capture).0.to_string())
            .with("first_string", self.strings)
            .with("strings", &strings)
            .with("peers", peers)
            .with("files", files(capture))
            .with("buses", buses(capture));
        self.strings += strings.len();
        self.messages = end;
        Some(rows.put(frame))
    }

    /// Texts that were not told yet, in the order of their numbers.
    fn strings<'c>(&self, capture: &'c Capture) -> Vec<&'c str> {
        capture.strings().iter().skip(self.strings).collect()
    }

    /// Connections of which there is something new to tell, each with its place.
    fn peers(&mut self, capture: &Capture) -> Vec<Value> {
        let mut changed = Vec::new();
        for (id, found) in capture.directory().peers() {
            let told = peer(capture, id, found);
            match self.peers.get_mut(id.index()) {
                Some(known) if *known == told => continue,
                Some(known) => *known = told.clone(),
                None => self.peers.push(told.clone()),
            }
            changed.push(told);
        }
        changed
    }

    fn rows(&mut self, capture: &Capture, end: usize) -> Rows {
        let mut rows = Rows::default();
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

    /// Who has this number. Somebody who is not known yet may be known when the next message comes.
    fn recipient(&mut self, capture: &Capture, bus: BusId, number: u64) -> u32 {
        if let Some(&known) = self.recipients.get(&(bus, number)) {
            return known;
        }
        let unique = capture.strings().find(&format!(":1.{number}"));
        let peer = unique.and_then(|unique| capture.directory().by_unique(bus, unique));
        if peer.is_some() {
            self.recipients.insert((bus, number), place(peer));
        }
        place(peer)
    }
}

/// A connection with its place.
fn peer(capture: &Capture, id: PeerId, peer: &Peer) -> Value {
    let text = |id| capture.strings().get(id);
    let since_start = |at: Option<Time>| at.map(|at| at.0 - start(capture).0);
    json!({
        "id": id.index(),
        "bus": peer.bus.0,
        "unique": text(peer.unique),
        "names": peer.names.iter().map(|&name| text(name)).collect::<Vec<_>>(),
        "label": capture.label(id),
        "process": peer.process.as_ref().map(process),
        "arrived": since_start(peer.arrived),
        "left": since_start(peer.left),
        "why": peer.why,
        "recorder": peer.role == Role::Recorder,
    })
}

fn process(process: &Process) -> Value {
    json!({
        "pid": process.pid,
        "uid": process.uid,
        "program": process.program(),
        "exe": process.exe,
        "command": process.command,
        "unit": process.unit,
    })
}

/// What the files are called that the recording was read from.
fn files(capture: &Capture) -> Vec<String> {
    capture.files().map(|path| path.display().to_string()).collect()
}

fn buses(capture: &Capture) -> Vec<Value> {
    let of_bus = |(index, bus): (usize, &capture::record::Bus)| {
        let method = match bus.method {
            Method::Unknown => "unknown",
            Method::Trace => "trace",
            Method::Monitor => "monitor",
            Method::Eavesdrop => "eavesdrop",
        };
        json!({
            "label": capture.bus_label(BusId(index as u16)),
            "address": bus.address,
            "method": method,
            "redacted": bus.content == Content::Redacted,
            "file": capture.file_of(BusId(index as u16)),
        })
    };
    capture.buses().iter().enumerate().map(of_bus).collect()
}

/// Messages in columns.
#[derive(Debug, Default)]
struct Rows {
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
    /// Times that are too long for their columns.
    long: Vec<LongTime>,
}

/// A time that is too long for its column: the name of the column, the row in the frame, and nanoseconds.
type LongTime = (&'static str, usize, u64);

impl Rows {
    fn push(&mut self, message: &Message<'_>, start: Time) {
        self.at.push((message.at().0 - start.0) as f64);
        self.kind.push(kind(message.kind()));
        self.flags.push(message.flags().bits().into());
        self.health.push(message.health() as u32);
        self.bus.push(message.bus().0.min(u8::MAX.into()).into());
        self.from.push(place(message.from()));
        self.to.push(place(message.to()));
        self.destination.push(message.destination_id().index() as u32);
        self.path.push(message.path_id().index() as u32);
        self.interface.push(message.interface_id().index() as u32);
        self.member.push(message.member_id().index() as u32);
        self.answers.push(answers(message));
        self.size.push(message.len());
        let routed = self.nanos("routed", message.routed_after());
        self.routed.push(routed);
        let delivered = self.nanos("delivered", delivered(message));
        self.delivered.push(delivered);
    }

    /// The value of a time column for the next row. A time that is too long for it goes into `long`.
    fn nanos(&mut self, column: &'static str, time: Option<Duration>) -> u32 {
        let Some(time) = time else { return NONE };
        let nanos = nanos(time);
        let short = u32::try_from(nanos).ok().filter(|&nanos| nanos < LONG);
        if short.is_none() {
            self.long.push((column, self.at.len() - 1, nanos));
        }
        short.unwrap_or(LONG)
    }

    fn put(&self, frame: Frame) -> Frame {
        let frame = if self.long.is_empty() { frame } else { frame.with("long", &self.long) };
        self.put_times(frame)
            .with_column("kind", Column::Packed(&self.kind))
            .with_column("flags", Column::Packed(&self.flags))
            .with_column("health", Column::Packed(&self.health))
            .with_column("bus", Column::Packed(&self.bus))
            .with_column("from", Column::Packed(&self.from))
            .with_column("to", Column::Packed(&self.to))
            .with_column("destination", Column::Packed(&self.destination))
            .with_column("path", Column::Packed(&self.path))
            .with_column("interface", Column::Packed(&self.interface))
            .with_column("member", Column::Packed(&self.member))
            .with_column("answers", Column::Packed(&self.answers))
            .with_column("size", Column::Packed(&self.size))
            .with_column("routed", Column::Packed(&self.routed))
            .with_column("delivered", Column::Packed(&self.delivered))
            .with_column("copies", Column::Packed(&self.copies))
            .with_column("recipients", Column::Packed(&self.recipients))
    }

    /// The first time and the steps from each message to the next, where they are short; all times
    /// where they are not.
    fn put_times(&self, frame: Frame) -> Frame {
        let before = self.at.first().into_iter().chain(&self.at);
        let steps = self.at.iter().zip(before).map(|(at, before)| at - before);
        let steps: Option<Vec<u32>> = steps.map(short).collect();
        match (self.at.first(), steps) {
            (Some(at), Some(steps)) => {
                frame.with("at", at).with_column("step", Column::Packed(&steps))
            }
            _ => frame.with_column("at", Column::F64(&self.at)),
        }
    }
}

/// After what time the addressee had it, or if it has none, the last recipient.
fn delivered(message: &Message<'_>) -> Option<Duration> {
    let copies = message.deliveries()?;
    let addressed = copies.iter().find(|copy| copy.rules == 0);
    match addressed {
        Some(copy) => copy.written_after,
        None => copies.iter().filter_map(|copy| copy.written_after).max(),
    }
}

/// A step in time that is one forward, and shorter than four seconds.
fn short(step: f64) -> Option<u32> {
    (0.0..f64::from(NONE)).contains(&step).then_some(step as u32)
}

/// Of a reply, how many messages before it its call is.
fn answers(message: &Message<'_>) -> u32 {
    let call = message.partner().map(|call| call.id().index());
    let before = call.and_then(|call| message.id().index().checked_sub(call));
    before.map_or(NONE, |before| before as u32)
}

/// As the wire has them; 0 for all that the specification does not know.
const fn kind(kind: MessageType) -> u32 {
    match kind {
        MessageType::MethodCall => 1,
        MessageType::MethodReturn => 2,
        MessageType::Error => 3,
        MessageType::Signal => 4,
        MessageType::Unknown(_) => 0,
    }
}

fn place(peer: Option<PeerId>) -> u32 {
    peer.map_or(NONE, |peer| peer.index() as u32)
}

/// Where there is nobody, or nothing.
const NONE: u32 = u32::MAX;

/// Stands for a time in `long`: the bus held the call while its service started, for example.
const LONG: u32 = NONE - 1;

/// Messages in one frame.
const MESSAGES_MAX: usize = 65_536;

#[cfg(test)]
mod tests {
    use diligence_testkit::recording::Recording;

    use super::*;

    fn json_of(frame: Frame) -> Value {
        let bytes = frame.into_bytes();
        let len = u32::from_le_bytes(bytes[4..8].try_into().unwrap()) as usize;
        serde_json::from_slice(&bytes[8..8 + len]).unwrap()
    }

    #[test]
    fn each_thing_is_told_once() {
        let mut recording = Recording::new();
        recording.owner("org.example.Mail", ":1.6");
        let call = recording.call(":1.5", "org.example.Mail", "/ org.example.Mail.Get", &());
        let mut feed = Feed::default();
        let first = json_of(feed.next(&recording.capture()).unwrap());
        assert_eq!((&first["first"], &first["count"]), (&0.into(), &1.into()));
        assert_eq!(first["files"], json!([]), "it was read from no file");
        let uniques = |told: &Value| {
            let peers = told["peers"].as_array().unwrap().iter();
            peers.map(|peer| peer["unique"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
        };
        assert!(uniques(&first).contains(&":1.5".to_owned()), "{first}");
        assert!(feed.next(&recording.capture()).is_none());
        recording.wait_ms(3).reply(&call, ":1.6", &());
        let second = json_of(feed.next(&recording.capture()).unwrap());
        assert_eq!((&second["first"], &second["count"]), (&1.into(), &1.into()));
        assert_eq!(uniques(&second), [""; 0], "nobody has changed");
        assert!(feed.next(&recording.capture()).is_none());
    }

    /// A call that was held for six seconds while its service started.
    #[test]
    fn times_of_more_than_four_seconds_are_told_whole() {
        let mut recording = Recording::new();
        let told = |recording: &Recording| {
            let frame = Feed::default().next(&recording.capture()).expect("a message");
            json_of(frame)["long"].clone()
        };
        recording.call(":1.5", "org.x.Late", "/l org.x.Late.Get", &());
        recording.delivered(4_294_967, &[(7, 4_294_967, 0)]);
        assert_eq!(told(&recording), Value::Null);
        recording.call(":1.5", "org.x.Late", "/l org.x.Late.Get", &());
        recording.delivered(6_000_010, &[(7, 6_000_020, 0)]);
        let expected =
            json!([["routed", 1, 6_000_010_000_u64], ["delivered", 1, 6_000_020_000_u64]]);
        assert_eq!(told(&recording), expected);
    }
}
