//! What is known of a bus: who is connected, what they send, what has happened.
//!
//! Pure: it is told what was seen and what the bus answered, always with the time, and gives
//! [snapshots](Snapshot) to be shown. What it wants to know it asks for: whoever feeds it takes
//! [`newcomers`](Model::newcomers) and finds out which programs they are.
//!
//! ```text
//!   observe(message) ─┐                 ┌─> newcomers: who are they?
//!   set_program       ├──>  Model  ─────┤
//!   set_stats         │                 └─> snapshot, notes
//!   step, once a second
//! ```

mod connections;
mod flow;
mod members;
mod notes;
mod program;
mod snapshot;

use std::collections::VecDeque;
use std::mem;
use std::time::Duration;

pub(crate) use connections::ConnectionStats;
use connections::{Connection, Connections};
#[cfg(test)]
pub(crate) use flow::{Amount, Rate};
use flow::{Flow, Window};
pub(crate) use members::MemberKind;
use members::{MemberName, Members};
pub(crate) use notes::{Note, NoteId, NoteKind, Notes};
pub(crate) use program::Program;
pub(crate) use snapshot::{ConnectionRow, MemberRow, Owner, Snapshot};
use wire::message::{Message, MessageType};

/// What the bus tells of itself (`GetTotals`).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct BusStats {
    /// Messages that somebody did not get because too much waited for him already.
    pub(crate) lost: u64,
    /// Messages that were not delivered because that is not allowed.
    pub(crate) refused: u64,
}

/// All that is known of one bus.
#[derive(Debug)]
pub(crate) struct Model {
    started: Duration,
    window: Window,
    traffic: Flow,
    /// Messages a second in each step, the last one first.
    history: VecDeque<u64>,
    connections: Connections,
    members: Members,
    notes: Notes,
    bus: BusStats,
    /// The connections by which we see and ask. What they say and hear is not counted.
    own: Vec<Box<str>>,
    newcomers: Vec<Box<str>>,
}

/// What is told to it.
impl Model {
    /// A bus that starts `now`, as the process `bus`.
    pub(crate) fn new(now: Duration, bus: Program) -> Self {
        let mut connections = Connections::default();
        connections.add(BUS, now);
        connections.get_mut(BUS).expect("it was added").program = Some(bus);
        Self {
            started: now,
            window: Window::starting(now),
            traffic: Flow::default(),
            history: VecDeque::new(),
            connections,
            members: Members::default(),
            notes: Notes::default(),
            bus: BusStats::default(),
            own: Vec::new(),
            newcomers: Vec::new(),
        }
    }

    /// Which connections are ours: one that sees, and is no connection any more to others, and one
    /// that asks.
    pub(crate) fn set_own(&mut self, monitor: &str, asker: &str, now: Duration) {
        self.own = vec![monitor.into(), asker.into()];
        self.connections.add(asker, now);
    }

    /// A message went over the bus.
    pub(crate) fn observe(&mut self, now: Duration, message: &Message<'_>) {
        let sender = message.sender().map_or(BUS, |name| name.as_str());
        let len = message.bytes().len() as u64;
        if self.is_own(sender) {
            self.count_sent(sender, len);
            return;
        }
        if message.destination().is_some_and(|name| self.is_own(name.as_str())) {
            return;
        }
        if sender.starts_with(':') {
            self.arrive(sender, now);
        }
        self.traffic.add(1, len);
        self.count_sent(sender, len);
        match message.message_type() {
            MessageType::MethodCall => self.observe_call(now, sender, message),
            MessageType::Signal => self.observe_signal(now, sender, message),
            MessageType::MethodReturn | MessageType::Error => {
                self.observe_answer(now, sender, message);
            }
            MessageType::Unknown(_) => {}
        }
    }

    /// A connection exists: the bus said so when asked.
    pub(crate) fn exists(&mut self, unique: &str, now: Duration) {
        if !self.is_own(unique) {
            self.arrive(unique, now);
        }
    }

    /// A well-known name has this owner: the bus said so when asked.
    pub(crate) fn is_owned(&mut self, name: &str, owner: &str, now: Duration) {
        self.exists(owner, now);
        if self.connections.resolve(name) != owner {
            self.connections.set_owner(name, Some(owner));
        }
    }

    /// The process behind a connection; `None` if the bus does not know it.
    pub(crate) fn set_program(&mut self, unique: &str, program: Option<Program>, now: Duration) {
        let is_own = self.is_own(unique);
        let Some(connection) = self.connections.get_mut(unique) else { return };
        connection.program = program;
        if !is_own && connection.arrival.is_none() {
            let text = arrival_text(unique, connection);
            connection.arrival = Some(self.notes.add(now, NoteKind::Arrival, text));
        }
    }

    /// What the bus told of a connection.
    pub(crate) fn set_connection_stats(&mut self, unique: &str, stats: ConnectionStats) {
        if let Some(connection) = self.connections.get_mut(unique) {
            connection.stats = Some(stats);
        }
    }

    /// What the bus told of itself.
    pub(crate) const fn set_bus_stats(&mut self, stats: BusStats) {
        self.bus = stats;
    }

    /// Something happened that no message tells of.
    pub(crate) fn note(&mut self, now: Duration, kind: NoteKind, text: String) {
        self.notes.add_or_count(now, kind, text);
    }

    /// Ends a step: rates are measured in steps. To be called about once a second.
    pub(crate) fn step(&mut self, now: Duration) {
        let seconds = self.window.step(now).as_secs_f64();
        self.traffic.step();
        self.connections.step();
        self.members.step(now);
        let messages = self.traffic.last_step().messages as f64;
        self.history.truncate(HISTORY_MAX - 1);
        self.history.push_front(if seconds > 0.0 {
            (messages / seconds).round() as u64
        } else {
            0
        });
    }
}

/// What it tells.
impl Model {
    /// Connections that have come since this was asked last, and whose processes are not known.
    pub(crate) fn newcomers(&mut self) -> Vec<Box<str>> {
        mem::take(&mut self.newcomers)
    }

    /// What happened.
    pub(crate) const fn notes(&self) -> &Notes {
        &self.notes
    }

    fn is_own(&self, name: &str) -> bool {
        self.own.iter().any(|own| **own == *name)
    }
}

/// What messages mean.
impl Model {
    fn count_sent(&mut self, sender: &str, len: u64) {
        if let Some(connection) = self.connections.get_mut(sender) {
            connection.sent.add(1, len);
        }
    }

    fn observe_call(&mut self, now: Duration, sender: &str, message: &Message<'_>) {
        let (Some(member), Some(destination)) = (message.member(), message.destination()) else {
            return;
        };
        let name = MemberName {
            kind: MemberKind::Method,
            interface: message.interface().map(|name| name.as_str()),
            member: member.as_str(),
            owner: self.connections.resolve(destination.as_str()),
        };
        let key = self.members.count(&name, Some(sender), now, message.bytes().len() as u64);
        if let Some(key) = key.filter(|_| message.expects_reply())
            && let Some(caller) = self.connections.get_mut(sender)
        {
            caller.called(message.serial().get(), key);
        }
    }

    fn observe_signal(&mut self, now: Duration, sender: &str, message: &Message<'_>) {
        let (Some(interface), Some(member)) = (message.interface(), message.member()) else {
            return;
        };
        let name = MemberName {
            kind: MemberKind::Signal,
            interface: Some(interface.as_str()),
            member: member.as_str(),
            owner: sender,
        };
        let addressed = message.destination().map(|name| name.as_str());
        self.members.count(&name, addressed, now, message.bytes().len() as u64);
        if sender == BUS && member == "NameOwnerChanged" {
            // A bus sends no other arguments; if it did, there would be nothing to learn.
            if let Ok((name, old, new)) = message.read::<(&str, &str, &str)>() {
                self.owner_changed(now, name, old, new);
            }
        }
    }

    fn observe_answer(&mut self, now: Duration, sender: &str, message: &Message<'_>) {
        let (Some(caller), Some(serial)) = (message.destination(), message.reply_serial()) else {
            return;
        };
        let caller = caller.as_str();
        let connection = self.connections.get_mut(caller);
        let Some(key) = connection.and_then(|connection| connection.answered(serial.get())) else {
            return;
        };
        let len = message.bytes().len() as u64;
        let Some(error) = message.error_name() else {
            self.members.answer(&key, len);
            return;
        };
        let Some(called) = self.members.error(&key, len) else { return };
        let text = format!(
            "{} called {} of {}: {}",
            self.connections.label(caller),
            called.member,
            self.connections.label(sender),
            error.as_str().trim_start_matches(STANDARD_ERRORS),
        );
        self.notes.add_or_count(now, NoteKind::Error, text);
    }

    fn owner_changed(&mut self, now: Duration, name: &str, old: &str, new: &str) {
        match (name.starts_with(':'), new.is_empty()) {
            (true, false) => self.exists(new, now),
            (true, true) => self.leave(name, now),
            (false, _) => self.rename(now, name, old, new),
        }
    }

    /// Of a connection whose arrival is still to be noted, that note will tell the names.
    fn rename(&mut self, now: Duration, name: &str, old: &str, new: &str) {
        let owner = Some(new).filter(|new| !new.is_empty());
        self.connections.set_owner(name, owner);
        let text = match owner {
            Some(new) if self.connections.get(new).is_some_and(|it| it.arrival.is_none()) => return,
            Some(new) => format!("{name} is {}", who(new, self.connections.get(new))),
            None => format!("{name} is nobody, was {}", who(old, self.connections.get(old))),
        };
        self.notes.add(now, NoteKind::Name, text);
    }

    fn arrive(&mut self, unique: &str, now: Duration) {
        if self.connections.add(unique, now) {
            self.newcomers.push(unique.into());
        }
    }

    /// Of a connection that came and left at once, one note is enough.
    fn leave(&mut self, unique: &str, now: Duration) {
        let Some(connection) = self.connections.remove(unique) else { return };
        self.members.forget(unique);
        let who = who(unique, Some(&connection));
        let stayed = now.saturating_sub(connection.arrived);
        match connection.arrival {
            Some(id) if stayed < SHORT_STAY => {
                let text = format!("{who} came and left");
                self.notes.replace(id, now, NoteKind::Departure, text);
            }
            Some(_) => {
                self.notes.add(now, NoteKind::Departure, format!("{who} left"));
            }
            None => {
                self.notes.add(now, NoteKind::Departure, format!("{who} came and left"));
            }
        }
    }
}

fn who(unique: &str, connection: Option<&Connection>) -> String {
    match connection.and_then(Connection::program_or_name) {
        Some(label) => format!("{unique} {label}"),
        None => unique.to_owned(),
    }
}

fn arrival_text(unique: &str, connection: &Connection) -> String {
    let mut text = who(unique, Some(connection)) + " came";
    if let Some(program) = &connection.program {
        text.push_str(&format!(", pid {}", program.pid));
    }
    if !connection.names.is_empty() {
        text.push_str(&format!(", is {}", connection.names.join(", ")));
    }
    text
}

/// The name under which the bus itself speaks.
const BUS: &str = "org.freedesktop.DBus";

/// What errors that everybody knows begin with.
const STANDARD_ERRORS: &str = "org.freedesktop.DBus.Error.";

/// A connection that stays no longer than this is noted once.
const SHORT_STAY: Duration = Duration::from_secs(2);

/// Steps of the history that are kept; wider than any terminal.
const HISTORY_MAX: usize = 1024;

#[cfg(test)]
mod tests;
