//! The state of a bus at one moment, ready to be shown.

use std::collections::HashMap;
use std::time::Duration;

use capture::model::TextId;
use capture::record::{RecordedProcess, RecordedTime};
use capture::text::visible::printable;
use recorder::ConnectionStatistics;

use super::{BUS, BusNote, RATE_STEPS, STEP, UpModel, UsedMemberKind, is_counted, members};
use crate::live::{TrafficAmount, TrafficRate};

/// The state of a bus at one moment.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Snapshot {
    /// The time since the start.
    pub(crate) uptime: Duration,
    /// The rate of all traffic, without this program's own.
    pub(crate) rate: TrafficRate,
    /// The total of all traffic, without this program's own.
    pub(crate) total: TrafficAmount,
    /// Messages per second in the latest steps, the newest first.
    pub(crate) history: Vec<u64>,
    /// The number of well-known names with an owner.
    pub(crate) names: u64,
    /// The number of match rules of all peers; `None` if the bus does not report it.
    pub(crate) rules: Option<u64>,
    /// The number of messages that were dropped because the queue of a recipient was full.
    pub(crate) lost: u64,
    /// The number of messages that the bus answered with an error.
    pub(crate) refused: u64,
    /// All connections in no particular order, including the bus and this program's own.
    pub(crate) connections: Vec<ConnectionRow>,
    /// Methods and signals in no particular order.
    pub(crate) members: Vec<UsedMember>,
    /// Events, the newest first; their times are counted from the start.
    pub(crate) notes: Vec<BusNote>,
}

impl Snapshot {
    /// The number of connections, without the bus and this program's own.
    pub(crate) fn connection_count(&self) -> u64 {
        self.connections.iter().filter(|row| row.owner == ConnectionOwner::Peer).count() as u64
    }

    /// The total of bytes that are queued for these connections.
    pub(crate) fn queued(&self) -> u64 {
        let peers = self.connections.iter().filter(|row| row.owner == ConnectionOwner::Peer);
        peers.filter_map(|row| row.stats).map(|stats| stats.queued).sum()
    }
}

/// The owner of a connection.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum ConnectionOwner {
    /// A program that uses the bus.
    Peer,
    /// The bus itself, under its own name.
    Bus,
    /// This program, which watches the bus.
    View,
}

/// A row of the table of connections.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct ConnectionRow {
    /// The owner of the connection.
    pub(crate) owner: ConnectionOwner,
    /// The unique name of the connection.
    pub(crate) unique: Box<str>,
    /// The well-known names that it owns.
    pub(crate) names: Vec<Box<str>>,
    /// The process, if it is known.
    pub(crate) program: Option<ConnectionProgram>,
    /// The rate of sent messages.
    pub(crate) rate: TrafficRate,
    /// The total of sent messages.
    pub(crate) total: TrafficAmount,
    /// The statistics that the bus reports about it.
    pub(crate) stats: Option<ConnectionStatistics>,
}

/// A row of the table of methods and signals.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct UsedMember {
    /// The kind of the member.
    pub(crate) kind: UsedMemberKind,
    /// The interface, if the calls name one.
    pub(crate) interface: Option<Box<str>>,
    /// The name of the member.
    pub(crate) member: Box<str>,
    /// The callee of the method, or the sender of the signal.
    pub(crate) owner: String,
    /// The most frequent caller, or the most frequent recipient of an addressed signal.
    pub(crate) party: Option<String>,
    /// The number of other callers or recipients.
    pub(crate) more_parties: usize,
    /// The rate of uses, and of the bytes in them.
    pub(crate) rate: TrafficRate,
    /// Error replies per second.
    pub(crate) errors: f64,
    /// The average number of bytes of one use.
    pub(crate) len: f64,
    /// The number of uses in the kept messages.
    pub(crate) count: u64,
}

impl UsedMember {
    /// Returns the sender and the recipient. `*` is the recipient of a broadcast signal.
    pub(crate) fn ends(&self) -> (String, String) {
        let others = match (&self.party, self.more_parties) {
            (None, _) => None,
            (Some(party), 0) => Some(party.clone()),
            (Some(party), more) => Some(format!("{party} +{more}")),
        };
        let owner = self.owner.clone();
        match self.kind {
            UsedMemberKind::Method => (others.unwrap_or_else(|| String::from("?")), owner),
            UsedMemberKind::Signal => (owner, others.unwrap_or_else(|| String::from("*"))),
        }
    }
}

impl UpModel {
    /// Returns the state at the monotonic time `now`, which is `at` on the clock of the records.
    pub(crate) fn snapshot(&self, now: Duration, at: RecordedTime) -> Snapshot {
        let span = self.traffic.covered(at, RATE_STEPS * STEP).min(self.traffic.uptime(now));
        let connections = self.connection_rows(at, span);
        let known_rules = connections.iter().filter(|row| row.owner == ConnectionOwner::Peer);
        let known_rules: Vec<u64> =
            known_rules.filter_map(|row| row.stats).map(|stats| stats.rules).collect();
        Snapshot {
            uptime: self.traffic.uptime(now),
            rate: self.traffic.rate(RATE_STEPS as usize),
            total: self.traffic.total(),
            history: self.traffic.history().collect(),
            names: self.connections.names() as u64,
            rules: (!known_rules.is_empty()).then(|| known_rules.iter().sum()),
            lost: self.statistics.lost,
            refused: self.statistics.refused,
            connections,
            members: members::rows(&self.traffic, at, span),
            notes: self.notes.latest().map(|note| self.since_start(note)).collect(),
        }
    }

    fn since_start(&self, note: &BusNote) -> BusNote {
        BusNote { at: self.traffic.uptime(note.at), ..note.clone() }
    }

    fn connection_rows(&self, at: RecordedTime, span: Duration) -> Vec<ConnectionRow> {
        let mut sent: HashMap<TextId, TrafficAmount> = HashMap::new();
        for message in self.traffic.recent(at, span).filter(is_counted) {
            sent.entry(message.sender_id()).or_default().add(1, message.len().into());
        }
        let strings = self.traffic.capture().strings();
        let rows = self.connections.iter().map(|(unique, connection)| {
            let owner = match unique {
                BUS => ConnectionOwner::Bus,
                _ if self.is_own(unique) => ConnectionOwner::View,
                _ => ConnectionOwner::Peer,
            };
            let recent = strings.find(unique).and_then(|unique| sent.get(&unique).copied());
            ConnectionRow {
                owner,
                unique: unique.into(),
                names: connection.names.clone(),
                program: ConnectionProgram::of(&connection.process),
                rate: recent.unwrap_or_default().per(span),
                total: connection.sent,
                stats: self.statistics.connections.get(unique).copied(),
            }
        });
        rows.collect()
    }
}

/// The process of a connection, as texts that are safe for a terminal.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct ConnectionProgram {
    /// The pid of the process.
    pub(crate) pid: Option<u32>,
    /// The name of the program, or its pid.
    pub(crate) label: String,
    /// The program without its directory, and its arguments; empty if the process has ended.
    pub(crate) command: String,
}

impl ConnectionProgram {
    /// Returns `None` if neither the program nor the pid is known.
    fn of(process: &RecordedProcess) -> Option<Self> {
        let number = || process.pid.map(|pid| format!("pid {pid}"));
        let label = process.program().map(str::to_owned).or_else(number)?;
        let command = match process.command.as_slice() {
            [] => String::new(),
            [program, arguments @ ..] => {
                let name = program.rsplit('/').next().unwrap_or(program);
                [&[name.to_owned()], arguments].concat().join(" ")
            }
        };
        Some(Self {
            pid: process.pid,
            label: printable(&label).into_owned(),
            command: printable(&command).into_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processes_are_labeled_by_program_or_pid() {
        for (pid, comm, command, label, line) in [
            (Some(7), Some("gdbus"), &["/usr/bin/gdbus", "call"][..], "gdbus", "gdbus call"),
            (Some(7), None, &[], "pid 7", ""),
            (Some(7), Some("a\nb"), &["a\nb", "\x1b"], "a\\nb", "a\\nb \\u001b"),
        ] {
            let process = RecordedProcess {
                pid,
                comm: comm.map(str::to_owned),
                command: command.iter().map(|&word| word.to_owned()).collect(),
                ..RecordedProcess::default()
            };
            let program = ConnectionProgram::of(&process).expect("it is known");
            assert_eq!((program.label.as_str(), program.command.as_str()), (label, line));
        }
        assert_eq!(ConnectionProgram::of(&RecordedProcess::default()), None);
    }
}
