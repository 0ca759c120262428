//! The state of a bus: its traffic, its connections, and events.
//!
//! The model does no input and output. It receives records and the time, and returns
//! [snapshots](Snapshot).
//!
//! ```text
//!   records ─────────> LiveTraffic  the latest messages: rates, methods and signals
//!   facts in them ───> Connections  the connections and the names that they own
//!   both ────────────> Notes        events
//! ```

mod connections;
mod members;
mod notes;
mod snapshot;

use std::time::Duration;

use capture::CapturedMessageId;
use capture::model::CapturedMessage;
use capture::record::{Fact, RecordedProcess, RecordingRecord};
use capture::text::visible::printable;
use wire::message::MessageType;

use connections::{Connections, KnownConnection};
pub(crate) use members::UsedMemberKind;
pub(crate) use notes::{BusNote, NoteId, NoteKind, Notes};
use recorder::BusStatistics;
#[cfg(test)]
pub(crate) use snapshot::ConnectionProgram;
pub(crate) use snapshot::{ConnectionOwner, ConnectionRow, Snapshot, UsedMember};

use crate::live::LiveTraffic;

/// The complete state of one bus.
#[derive(Debug)]
pub(crate) struct UpModel {
    traffic: LiveTraffic,
    connections: Connections,
    notes: Notes,
    statistics: BusStatistics,
    /// The unique names of this program's own connections. Their traffic is not counted.
    own: Vec<Box<str>>,
}

impl UpModel {
    /// Returns the model of a bus that is watched since `now`.
    pub(crate) fn new(now: Duration) -> Self {
        let mut connections = Connections::default();
        connections.get_or_add(BUS, now);
        Self {
            traffic: LiveTraffic::new(MESSAGES_KEPT, now),
            connections,
            notes: Notes::default(),
            statistics: BusStatistics::default(),
            own: Vec::new(),
        }
    }

    /// Adds the next record to the state.
    pub(crate) fn push(&mut self, record: RecordingRecord<'_>, now: Duration) {
        if let RecordingRecord::Fact { fact, .. } = &record {
            self.apply_fact(fact, now);
        }
        if let Some(id) = self.traffic.push(record) {
            self.observe(id, now);
        }
    }

    /// Replaces the statistics that the bus reported.
    pub(crate) fn set_statistics(&mut self, statistics: &BusStatistics) {
        self.statistics.clone_from(statistics);
    }

    /// Adds an event that is not in the records.
    pub(crate) fn note(&mut self, now: Duration, kind: NoteKind, text: String) {
        self.notes.add_or_count(now, kind, text);
    }

    /// Ends a step of the rates. The caller does this once in every [`STEP`].
    pub(crate) fn step(&mut self, now: Duration) {
        self.traffic.step(now);
        let late: Vec<Box<str>> = self
            .connections
            .iter()
            .filter(|(_, one)| one.arrival.is_none() && one.arrived + PROGRAM_WITHIN <= now)
            .map(|(unique, _)| unique.into())
            .collect();
        late.iter().for_each(|unique| self.note_arrival(unique, now));
    }

    /// The notes about the latest events.
    pub(crate) const fn notes(&self) -> &Notes {
        &self.notes
    }

    /// The unique names of this program's own connections.
    pub(crate) fn own(&self) -> &[Box<str>] {
        &self.own
    }

    fn is_own(&self, name: &str) -> bool {
        self.own.iter().any(|own| **own == *name)
    }
}

/// The interpretation of records as events.
impl UpModel {
    fn apply_fact(&mut self, fact: &Fact, now: Duration) {
        match fact {
            Fact::Recorder { unique } => {
                self.own.push(unique.as_str().into());
                self.connections.get_or_add(unique, now);
            }
            Fact::Bus { process } => self.identify(BUS, process, now),
            Fact::Peer { unique, process } => {
                self.identify(unique, &process.clone().unwrap_or_default(), now);
            }
            Fact::Left { unique, .. } => self.handle_departure(unique, now),
            Fact::Owner { name, unique, .. } => self.change_owner(name, unique.as_deref(), now),
            _ => {}
        }
    }

    /// Adds facts about the process of a connection.
    fn identify(&mut self, unique: &str, process: &RecordedProcess, now: Duration) {
        let Some(connection) = self.connections.get_or_add(unique, now) else { return };
        let known = std::mem::take(&mut connection.process);
        connection.process = process.clone().or(known);
        if connection.process.program().is_some() {
            self.note_arrival(unique, now);
        }
    }

    /// Adds the note about the arrival of a connection, unless it exists.
    fn note_arrival(&mut self, unique: &str, now: Duration) {
        if unique == BUS || self.is_own(unique) {
            return;
        }
        let Some(connection) = self.connections.get(unique) else { return };
        if connection.arrival.is_some() {
            return;
        }
        let id = self.notes.add(now, NoteKind::Arrival, arrival_text(unique, connection));
        if let Some(connection) = self.connections.get_or_add(unique, now) {
            connection.arrival = Some(id);
        }
    }

    /// Handles a departure. A connection that stayed only briefly has one note for both events.
    fn handle_departure(&mut self, unique: &str, now: Duration) {
        let was_noted = self.connections.has_left(unique);
        let connection = self.connections.remove(unique);
        if self.is_own(unique) || (was_noted && connection.is_none()) {
            return;
        }
        let label = connection_label(unique, connection.as_ref());
        let arrival = connection.and_then(|it| Some((it.arrival?, now.saturating_sub(it.arrived))));
        let (text, is_replaced) = match arrival {
            Some((_, stayed)) if stayed >= SHORT_STAY => (format!("{label} left"), None),
            Some((id, _)) => (format!("{label} connected and disconnected"), Some(id)),
            None => (format!("{label} connected and disconnected"), None),
        };
        match is_replaced {
            Some(id) => self.notes.replace(id, now, NoteKind::Departure, text),
            None => drop(self.notes.add(now, NoteKind::Departure, text)),
        }
    }

    /// Handles a change of the owner of a name. If the arrival of the owner is not noted yet, the
    /// note about its arrival will contain the name.
    fn change_owner(&mut self, name: &str, new: Option<&str>, now: Duration) {
        let old = self.connections.owner(name).map(str::to_owned);
        if old.as_deref() == new {
            return;
        }
        self.connections.set_owner(name, new, now);
        let text = match (new, old) {
            (Some(new), _) => match self.connections.get(new) {
                None => return,
                Some(connection) if connection.arrival.is_none() => return,
                Some(connection) => {
                    format!("{name} is {}", connection_label(new, Some(connection)))
                }
            },
            (None, Some(old)) => {
                format!(
                    "{name} has no owner, was {}",
                    connection_label(&old, self.connections.get(&old))
                )
            }
            (None, None) => return,
        };
        self.notes.add(now, NoteKind::Name, text);
    }

    fn observe(&mut self, id: CapturedMessageId, now: Duration) {
        let message = self.traffic.capture().message(id);
        if !is_counted(&message) {
            return;
        }
        if let Some(connection) = self.connections.get_or_add(message.sender(), now) {
            connection.sent.add(1, message.len().into());
        }
        if let Some(text) = error_text(&message).filter(|_| !message.is_of_recorder()) {
            self.notes.add_or_count(now, NoteKind::Error, text);
        }
    }
}

/// Returns true if a message counts for its sender. Messages of the bus to this program do not.
fn is_counted(message: &CapturedMessage<'_>) -> bool {
    let is_own_sender = || {
        let directory = message.capture().directory();
        directory.is_recorder(message.bus(), message.sender_id())
    };
    !message.sender().is_empty() && (!message.is_of_recorder() || is_own_sender())
}

/// Returns `client called Get of server: UnknownObject` for an error reply to a known call.
fn error_text(message: &CapturedMessage<'_>) -> Option<String> {
    if message.kind() != MessageType::Error {
        return None;
    }
    let (call, capture) = (message.partner()?, message.capture());
    let label = |peer: Option<_>, name: &str| match peer {
        Some(peer) => printable(&capture.label(peer)).into_owned(),
        None => name.to_owned(),
    };
    Some(format!(
        "{} called {} of {}: {}",
        label(call.from(), call.sender()),
        call.member(),
        label(message.from(), message.sender()),
        message.member().trim_start_matches(STANDARD_ERRORS),
    ))
}

fn connection_label(unique: &str, connection: Option<&KnownConnection>) -> String {
    match connection.and_then(KnownConnection::program_or_name) {
        Some(label) => format!("{unique} {}", printable(label)),
        None => unique.to_owned(),
    }
}

fn arrival_text(unique: &str, connection: &KnownConnection) -> String {
    let mut text = connection_label(unique, Some(connection)) + " connected";
    if let Some(pid) = connection.process.pid {
        text.push_str(&format!(", pid {pid}"));
    }
    if !connection.names.is_empty() {
        text.push_str(&format!(", is {}", connection.names.join(", ")));
    }
    text
}

/// The name of the bus itself.
const BUS: &str = "org.freedesktop.DBus";

/// The prefix of the error names in the D-Bus specification.
const STANDARD_ERRORS: &str = "org.freedesktop.DBus.Error.";

/// The length of a step of the rates.
pub(crate) const STEP: Duration = Duration::from_secs(1);

/// The number of steps over which rates are averaged. For an event with a period of one second, a
/// single step would show 0, 1 or 2 by chance.
const RATE_STEPS: u32 = 3;

/// A connection that stays for a shorter time gets a single note.
const SHORT_STAY: Duration = Duration::from_secs(2);

/// The time after which an arrival is noted even if the program is still unknown.
const PROGRAM_WITHIN: Duration = Duration::from_millis(500);

/// The minimum number of kept messages, from which the methods and signals of the last minute are
/// computed.
const MESSAGES_KEPT: usize = 50_000;

#[cfg(test)]
mod tests;
