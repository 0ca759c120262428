//! Keys by which messages are grouped.

use std::borrow::Cow;
use std::collections::HashMap;
use std::hash::Hash;

use wire::message::MessageType;

use crate::model::{Capture, CapturedMessage, RecordedPeer, RecordedPeerId, TextId};
use crate::record::{BusId, RecordedProcess};
use crate::table::{Cell, Column};

/// The kind of key by which messages are grouped.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum GroupKeyKind {
    /// The method or signal, with its interface and service. A reply has the key of its call.
    Member,
    /// The service that is called, or that emits the signal. A reply has the key of its call.
    Service,
    /// The interface. A reply has the key of its call.
    Interface,
    /// The object path. A reply has the key of its call.
    Path,
    /// The connection that sends the message.
    Sender,
    /// The process that sends the message. A connection without a known process is its own group.
    Process,
    /// The systemd unit that sends the message.
    Unit,
    /// The sender and the recipient.
    Pair,
    /// The type of the message.
    Type,
    /// The name of the error; only errors have this key.
    Error,
    /// The bus of the message.
    Bus,
}

/// The key of a group. Connections are represented by a name, see [`CanonicalNames`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum MessageGroupKey {
    Member {
        service: TextId,
        interface: TextId,
        member: TextId,
        what: MessageTypeKey,
    },
    Name(TextId),
    Text(TextId),
    Pair(TextId, TextId),
    /// The first connection of a process or a unit.
    First(u32),
    Type(MessageTypeKey),
    Bus,
}

/// The type of a message in one byte.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum MessageTypeKey {
    Call,
    Return,
    Error,
    Signal,
    Unknown,
}

impl From<MessageType> for MessageTypeKey {
    fn from(kind: MessageType) -> Self {
        match kind {
            MessageType::MethodCall => Self::Call,
            MessageType::MethodReturn => Self::Return,
            MessageType::Error => Self::Error,
            MessageType::Signal => Self::Signal,
            MessageType::Unknown(_) => Self::Unknown,
        }
    }
}

impl MessageTypeKey {
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Call => "call",
            Self::Return => "return",
            Self::Error => "error",
            Self::Signal => "signal",
            Self::Unknown => "unknown",
        }
    }
}

impl GroupKeyKind {
    /// The columns that identify the group of a row.
    pub(super) fn columns(self) -> Vec<Column> {
        let names: &[&'static str] = match self {
            Self::Member => &["member", "service", "type"],
            Self::Service => &["service"],
            Self::Interface => &["interface"],
            Self::Path => &["path"],
            Self::Sender => &["sender"],
            Self::Process => &["process"],
            Self::Unit => &["unit"],
            Self::Pair => &["from", "to"],
            Self::Type => &["type"],
            Self::Error => &["error"],
            Self::Bus => &["bus"],
        };
        let column = |&name| match (self, name) {
            // The type mostly follows from which columns have numbers.
            (Self::Member, "type") => Column::text(name).helpful(),
            _ => Column::text(name),
        };
        names.iter().map(column).collect()
    }

    /// The key of a message; `None` if it belongs to no group.
    pub(super) fn key(
        self,
        message: &CapturedMessage<'_>,
        names: &mut CanonicalNames<'_>,
    ) -> Option<MessageGroupKey> {
        let asked = message.call().unwrap_or(*message);
        Some(match self {
            Self::Member => MessageGroupKey::Member {
                service: names.service(&asked),
                interface: asked.interface_id(),
                member: asked.member_id(),
                what: asked.kind().into(),
            },
            Self::Service => MessageGroupKey::Name(names.service(&asked)),
            Self::Interface => MessageGroupKey::Text(asked.interface_id()),
            Self::Path => MessageGroupKey::Text(asked.path_id()),
            Self::Sender => {
                MessageGroupKey::Name(names.canonical(message.bus(), message.sender_id()))
            }
            Self::Process => MessageGroupKey::First(of_sender(&names.processes, message)),
            Self::Unit => MessageGroupKey::First(of_sender(&names.units, message)),
            Self::Pair => MessageGroupKey::Pair(
                names.canonical(message.bus(), message.sender_id()),
                names.canonical(message.bus(), message.destination_id()),
            ),
            Self::Type => MessageGroupKey::Type(message.kind().into()),
            Self::Error if message.kind() == MessageType::Error => {
                MessageGroupKey::Text(message.member_id())
            }
            Self::Error => return None,
            Self::Bus => MessageGroupKey::Bus,
        })
    }
}

/// The names that represent connections: for a unique name, the first well-known name that its
/// connection has owned. A message to a well-known name is counted under that name.
#[derive(Debug)]
pub(super) struct CanonicalNames<'c> {
    capture: &'c Capture,
    /// The canonical names by bus and text; `NONE` until computed.
    canonical: Vec<Vec<TextId>>,
    /// For each connection, the first connection of the same process.
    processes: Vec<u32>,
    /// For each connection, the first connection of the same systemd unit.
    units: Vec<u32>,
}

impl<'c> CanonicalNames<'c> {
    pub(super) fn new(capture: &'c Capture) -> Self {
        let processes = firsts(capture, |process| process.pid);
        let units = firsts(capture, |process| process.unit.clone());
        Self { capture, canonical: Vec::new(), processes, units }
    }

    /// The service that is called, or that emits the signal.
    fn service(&mut self, message: &CapturedMessage<'_>) -> TextId {
        let of = match message.kind() {
            MessageType::MethodCall => message.destination_id(),
            _ => message.sender_id(),
        };
        self.canonical(message.bus(), of)
    }

    pub(super) fn canonical(&mut self, bus: BusId, name: TextId) -> TextId {
        let of_bus = usize::from(bus.0);
        if self.canonical.len() <= of_bus {
            self.canonical.resize(of_bus + 1, vec![TextId::NONE; self.capture.strings().len()]);
        }
        let known = self.canonical[of_bus][name.index()];
        if !known.is_none() {
            return known;
        }
        let peer = self.capture.directory().by_unique(bus, name);
        let peer = peer.map(|peer| self.capture.directory().peer(peer));
        let found = peer.and_then(|peer| peer.names.first().copied()).unwrap_or(name);
        self.canonical[of_bus][name.index()] = found;
        found
    }

    /// The cells that identify a group.
    pub(super) fn cells(&self, by: GroupKeyKind, bus: BusId, key: MessageGroupKey) -> Vec<Cell> {
        let text = |id: TextId| Cell::text(self.capture.strings().get(id));
        let name = |id: TextId| Cell::text(self.label(bus, id));
        match key {
            MessageGroupKey::Member { service, interface, member, what } => {
                let strings = self.capture.strings();
                let (interface, member) = (strings.get(interface), strings.get(member));
                let full = match (interface, member, what) {
                    (
                        _,
                        "",
                        MessageTypeKey::Call | MessageTypeKey::Signal | MessageTypeKey::Unknown,
                    ) => NO_HEADER.to_owned(),
                    (_, "", _) => self.loose(bus).to_owned(),
                    (_, error, MessageTypeKey::Error) => format!("{}: {error}", self.loose(bus)),
                    ("", member, _) => member.to_owned(),
                    (interface, member, _) => format!("{interface}.{member}"),
                };
                vec![Cell::Text(full), name(service), Cell::text(what.word())]
            }
            MessageGroupKey::Name(id) => vec![name(id)],
            MessageGroupKey::Text(id) if id.is_none() => vec![Cell::text("(none)")],
            MessageGroupKey::Text(id) => vec![text(id)],
            MessageGroupKey::Pair(from, to) if to.is_none() => {
                let all = if self.capture.has_cut_headers(bus) { ALL_OR_UNKNOWN } else { ALL };
                vec![name(from), Cell::text(all)]
            }
            MessageGroupKey::Pair(from, to) => vec![name(from), name(to)],
            MessageGroupKey::First(peer) => vec![Cell::text(self.first_label(by, peer))],
            MessageGroupKey::Type(what) => vec![Cell::text(what.word())],
            MessageGroupKey::Bus => vec![Cell::text(self.capture.bus_label(bus).into_owned())],
        }
    }

    /// The label for replies without a recorded call.
    fn loose(&self, bus: BusId) -> &'static str {
        if self.capture.has_cut_headers(bus) { UNKNOWN_CALL } else { NO_CALL }
    }

    fn label(&self, bus: BusId, name: TextId) -> Cow<'_, str> {
        if name.is_none() {
            return UNKNOWN_NAME.into();
        }
        match self.capture.directory().by_unique(bus, name) {
            Some(peer) => self.capture.label(peer),
            None => self.capture.strings().get(name).into(),
        }
    }

    fn first_label(&self, by: GroupKeyKind, peer: u32) -> String {
        let mut peers = self.capture.directory().peers();
        let Some((id, peer)) = peers.nth(peer as usize) else { return "(unknown)".to_owned() };
        let known = match by {
            GroupKeyKind::Unit => peer.process.as_ref().and_then(|process| process.unit.clone()),
            _ => self.capture.process_label(id),
        };
        known.unwrap_or_else(|| self.capture.label(id).into_owned())
    }
}

/// For each connection, the first connection whose process has the same value. A connection without
/// a value represents itself.
fn firsts<T: Eq + Hash>(
    capture: &Capture,
    common: impl Fn(&RecordedProcess) -> Option<T>,
) -> Vec<u32> {
    let mut first = HashMap::new();
    let number = |(id, peer): (RecordedPeerId, &RecordedPeer)| {
        let index = id.index() as u32;
        match peer.process.as_ref().and_then(&common) {
            Some(common) => *first.entry(common).or_insert(index),
            None => index,
        }
    };
    capture.directory().peers().map(number).collect()
}

/// The connection that represents the sender of a message.
fn of_sender(firsts: &[u32], message: &CapturedMessage<'_>) -> u32 {
    message.from().map_or(UNKNOWN, |peer| firsts[peer.index()])
}

/// Represents the sender of a message that has none.
const UNKNOWN: u32 = u32::MAX;

/// The label for a sender or callee that the header does not name.
const UNKNOWN_NAME: &str = "(unknown)";
/// The label for the recipients of a broadcast.
const ALL: &str = "(all)";
/// The label for the recipients of a message that has no destination, or whose destination was cut.
const ALL_OR_UNKNOWN: &str = "(all or unknown)";

const NO_CALL: &str = "(reply to no recorded call)";
const UNKNOWN_CALL: &str = "(reply to an unknown call)";

/// The label for the member of calls and signals whose header does not name it.
const NO_HEADER: &str = "(header cut or invalid)";
