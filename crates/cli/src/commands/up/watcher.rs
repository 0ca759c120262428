//! Two connections to a bus: one sees every message, the other asks about what was seen.
//!
//! A connection that has become a monitor may not send any more, so it takes two. Nothing here
//! waits for the bus, except the very start: answers are taken when they have come.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use client::wire::body::Value;
use client::wire::message::Builder;
use client::wire::names::{InterfaceName, MemberName, ObjectPath, WellKnownName};
use client::{
    Body, CallError, CallOptions, ConnectError, Connection, Ended, PendingCall, Processed, Received,
};
use sys::process;

use super::model::{BusStats, ConnectionStats, Model, Program};

/// Two connections to a bus, and what the second one has asked.
#[derive(Debug)]
pub(crate) struct Watcher {
    monitor: Connection,
    asker: Connection,
    asked: Vec<(Question, PendingCall)>,
    stats: Statistics,
}

/// What was asked.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Question {
    /// Which names there are.
    Names,
    /// Who owns this name.
    Owner(Box<str>),
    /// Which process is behind this connection.
    Process(Box<str>),
    /// How the bus is.
    Bus,
    /// How those connections are that talk most.
    Connections,
}

/// Whether the bus tells numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Statistics {
    /// It may.
    Asked,
    /// It has said that it does not.
    Missing,
}

/// Whether there may be more messages at once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Drained {
    /// All that had come were taken.
    Empty,
    /// There may be more: others should have a turn, too.
    More,
}

impl Watcher {
    /// Connects to a bus, and asks who is there.
    pub(crate) fn open(
        address: &str,
        model: &mut Model,
        now: Duration,
    ) -> Result<Self, WatchError> {
        let monitor = Connection::open(address)?;
        let asker = Connection::open(address)?;
        let rules: [&str; 0] = [];
        monitor.call(BUS, BUS_PATH, MONITORING, "BecomeMonitor", &(rules, 0_u32))?;
        model.set_own(monitor.unique_name().as_str(), asker.unique_name().as_str(), now);
        let mut watcher = Self { monitor, asker, asked: Vec::new(), stats: Statistics::Asked };
        watcher.ask_process(watcher.asker.unique_name().as_str().into());
        watcher.ask(Question::Names, DRIVER, "ListNames", &());
        watcher.flush()?;
        Ok(watcher)
    }

    /// The connection that sees every message.
    pub(crate) const fn monitor(&self) -> &Connection {
        &self.monitor
    }

    /// The connection that asks.
    pub(crate) const fn asker(&self) -> &Connection {
        &self.asker
    }

    /// Takes messages that have come, and asks about connections that are new.
    pub(crate) fn take_messages(
        &mut self,
        model: &mut Model,
        now: Duration,
    ) -> Result<Drained, Ended> {
        let mut drained = Drained::More;
        for _ in 0..MESSAGES_PER_TURN {
            let Some(received) = self.monitor.next_message(Some(Duration::ZERO))? else {
                drained = Drained::Empty;
                break;
            };
            model.observe(now, &received.message());
        }
        model.newcomers().into_iter().for_each(|name| self.ask_process(name));
        self.flush()?;
        Ok(drained)
    }

    /// Takes answers that have come.
    pub(crate) fn take_answers(&mut self, model: &mut Model, now: Duration) -> Result<(), Ended> {
        while self.asker.process(Some(Duration::ZERO))? != Processed::Nothing {}
        for (question, mut call) in std::mem::take(&mut self.asked) {
            match call.poll() {
                None => self.asked.push((question, call)),
                Some(outcome) => self.answer(question, outcome, model, now),
            }
        }
        model.newcomers().into_iter().for_each(|name| self.ask_process(name));
        self.flush()
    }

    /// Asks how the bus is, and those connections that talk most.
    pub(crate) fn ask_stats(&mut self) -> Result<(), Ended> {
        let waiting = |(question, _): &(Question, _)| *question == Question::Bus;
        if self.stats == Statistics::Missing || self.asked.iter().any(waiting) {
            return Ok(());
        }
        self.ask(Question::Bus, STATISTICS, "GetTotals", &());
        self.ask(Question::Connections, STATISTICS, "GetConnections", &(CONNECTIONS_MAX,));
        self.flush()
    }

    fn ask_process(&mut self, name: Box<str>) {
        let text = name.to_string();
        self.ask(Question::Process(name), DRIVER, "GetConnectionCredentials", &(text,));
    }

    fn ask(&mut self, question: Question, interface: &str, member: &str, arguments: &impl Body) {
        let (Ok(interface), Ok(member)) = (InterfaceName::new(interface), MemberName::new(member))
        else {
            unreachable!("the names of the bus's members are valid")
        };
        let message =
            Builder::method_call(BUS_PATH, member).interface(interface).destination(BUS.into());
        // What cannot be sent is a connection that has ended, which shows when it is flushed.
        if let Ok(call) = self.asker.start_call(&message, arguments, CallOptions::default()) {
            self.asked.push((question, call));
        }
    }

    fn answer(
        &mut self,
        question: Question,
        outcome: Result<Received, CallError>,
        model: &mut Model,
        now: Duration,
    ) {
        match (question, outcome) {
            (Question::Names, Ok(reply)) => self.note_names(&reply, model, now),
            (Question::Owner(name), Ok(reply)) => {
                if let Ok((owner,)) = reply.read::<(&str,)>() {
                    model.is_owned(&name, owner, now);
                }
            }
            (Question::Process(name), reply) => {
                let process = reply.ok().and_then(|reply| process_of(&reply));
                model.set_program(&name, process, now);
            }
            (Question::Bus, Ok(reply)) => model.set_bus_stats(bus_stats(&numbers(&reply))),
            (Question::Connections, Ok(reply)) => note_connections(&reply, model),
            (Question::Bus, Err(CallError::Remote { .. })) => self.stats = Statistics::Missing,
            // Somebody has gone before the bus could tell of him.
            (Question::Names | Question::Owner(_) | Question::Bus | Question::Connections, _) => {}
        }
    }

    /// Those who came before us are not seen coming.
    fn note_names(&mut self, reply: &Received, model: &mut Model, now: Duration) {
        let Ok((names,)) = reply.read::<(Vec<&str>,)>() else { return };
        let others = names.into_iter().filter(|name| *name != BUS.as_str());
        let (unique, well_known): (Vec<_>, Vec<_>) = others.partition(|name| name.starts_with(':'));
        unique.into_iter().for_each(|name| model.exists(name, now));
        for name in well_known {
            self.ask(Question::Owner(name.into()), DRIVER, "GetNameOwner", &(name,));
        }
    }

    fn flush(&self) -> Result<(), Ended> {
        self.asker.flush()
    }
}

/// Why a bus cannot be watched.
#[derive(Debug)]
pub(crate) enum WatchError {
    /// There is no connection to it.
    Connect(ConnectError),
    /// It does not show its messages.
    Monitor(CallError),
    /// It has closed a connection.
    Ended(Ended),
}

impl From<ConnectError> for WatchError {
    fn from(error: ConnectError) -> Self {
        Self::Connect(error)
    }
}

impl From<CallError> for WatchError {
    fn from(error: CallError) -> Self {
        Self::Monitor(error)
    }
}

impl From<Ended> for WatchError {
    fn from(ended: Ended) -> Self {
        Self::Ended(ended)
    }
}

impl fmt::Display for WatchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Connect(error) => write!(f, "cannot connect to the bus: {error}"),
            Self::Monitor(error) => write!(f, "the bus does not show its messages: {error}"),
            Self::Ended(ended) => ended.fmt(f),
        }
    }
}

impl std::error::Error for WatchError {}

/// The process that the bus says is behind a connection, while it can still be looked at.
fn process_of(reply: &Received) -> Option<Program> {
    let pid = u32::try_from(*numbers(reply).get("ProcessID")?).ok()?;
    let command_line = process::command_line(pid);
    Some(Program::new(pid, process::comm(pid).as_deref(), command_line.as_deref()))
}

/// The entries of an `a{sv}` that are numbers.
fn numbers(reply: &Received) -> BTreeMap<String, u64> {
    let Ok((entries,)) = reply.read::<(BTreeMap<String, Value>,)>() else { return BTreeMap::new() };
    let number = |(key, value)| Some((key, number(&value)?));
    entries.into_iter().filter_map(number).collect()
}

const fn number(value: &Value) -> Option<u64> {
    match value {
        Value::Uint32(number) => Some(*number as u64),
        Value::Uint64(number) => Some(*number),
        _ => None,
    }
}

fn note_connections(reply: &Received, model: &mut Model) {
    let connections = reply.read::<(Vec<BTreeMap<&str, Value>>,)>().unwrap_or_default().0;
    for connection in connections {
        if let Some(Value::String(name)) = connection.get("UniqueName") {
            model.set_connection_stats(name, connection_stats(&connection));
        }
    }
}

fn bus_stats(numbers: &BTreeMap<String, u64>) -> BusStats {
    let number = |key: &str| numbers.get(key).copied().unwrap_or(0);
    BusStats { lost: number("LostMessages"), refused: number("RefusedMessages") }
}

fn connection_stats(entries: &BTreeMap<&str, Value>) -> ConnectionStats {
    let number = |key: &str| entries.get(key).and_then(number).unwrap_or(0);
    ConnectionStats {
        queued: number("QueuedBytes"),
        queued_peak: number("PeakQueuedBytes"),
        lost: number("LostMessages"),
        rules: number("MatchRules"),
    }
}

const BUS: WellKnownName<'static> = WellKnownName::literal("org.freedesktop.DBus");
const BUS_PATH: ObjectPath<'static> = ObjectPath::literal("/org/freedesktop/DBus");
const DRIVER: &str = "org.freedesktop.DBus";
const MONITORING: &str = "org.freedesktop.DBus.Monitoring";
const STATISTICS: &str = "org.diligence.Statistics1";

/// Messages that are taken before others have a turn.
const MESSAGES_PER_TURN: usize = 2048;

/// Connections that are asked about: more than are ever on a screen.
const CONNECTIONS_MAX: u32 = 100;
