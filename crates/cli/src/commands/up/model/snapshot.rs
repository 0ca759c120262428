//! What there is to show at one moment.

use std::collections::HashMap;
use std::time::Duration;

use capture::model::TextId;
use capture::record::{RecordedProcess, RecordedTime};
use capture::text::visible::printable;
use recorder::ConnectionStatistics;

use super::{BUS, BusNote, RATE_STEPS, STEP, UpModel, UsedMemberKind, is_counted, members};
use crate::live::{TrafficAmount, TrafficRate};

/// What there is to show at one moment.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Snapshot {
    /// How long the bus has been watched.
    pub(crate) uptime: Duration,
    /// All traffic, without ours.
    pub(crate) rate: TrafficRate,
    /// All traffic ever, without ours.
    pub(crate) total: TrafficAmount,
    /// Messages a second in the last steps, the latest one first.
    pub(crate) history: Vec<u64>,
    /// Well-known names.
    pub(crate) names: u64,
    /// Match rules of all connections; `None` if the bus does not tell.
    pub(crate) rules: Option<u64>,
    /// Messages that were dropped because the queue of a recipient was full.
    pub(crate) lost: u64,
    /// Messages that the bus answered with an error.
    pub(crate) refused: u64,
    /// Connections, in no order; the bus and our connection among them.
    pub(crate) connections: Vec<ConnectionRow>,
    /// Methods and signals, in no order.
    pub(crate) members: Vec<UsedMember>,
    /// What happened, the last one first; the times are counted from the start.
    pub(crate) notes: Vec<BusNote>,
}

impl Snapshot {
    /// Connections other than the bus and ours.
    pub(crate) fn connection_count(&self) -> u64 {
        self.connections.iter().filter(|row| row.owner == ConnectionOwner::Peer).count() as u64
    }

    /// Bytes that wait for all of these connections.
    pub(crate) fn queued(&self) -> u64 {
        let peers = self.connections.iter().filter(|row| row.owner == ConnectionOwner::Peer);
        peers.filter_map(|row| row.stats).map(|stats| stats.queued).sum()
    }
}

/// Whose connection it is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum ConnectionOwner {
    /// Somebody's.
    Peer,
    /// It is the bus itself.
    Bus,
    /// Ours, by which we ask the bus.
    View,
}

/// One connection.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct ConnectionRow {
    /// Whose it is.
    pub(crate) owner: ConnectionOwner,
    /// Its unique name.
    pub(crate) unique: Box<str>,
    /// Its well-known names.
    pub(crate) names: Vec<Box<str>>,
    /// Its process, if that is known.
    pub(crate) program: Option<ConnectionProgram>,
    /// How fast it sends.
    pub(crate) rate: TrafficRate,
    /// What it has sent.
    pub(crate) total: TrafficAmount,
    /// What the bus tells of it.
    pub(crate) stats: Option<ConnectionStatistics>,
}

/// One method or signal.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct UsedMember {
    /// Method or signal.
    pub(crate) kind: UsedMemberKind,
    /// The interface, if the calls name one.
    pub(crate) interface: Option<Box<str>>,
    /// The member.
    pub(crate) member: Box<str>,
    /// Who is called, or sends the signal.
    pub(crate) owner: String,
    /// Who calls most often, or to whom signals are addressed, if they are.
    pub(crate) party: Option<String>,
    /// How many others do so, or are.
    pub(crate) more_parties: usize,
    /// How often it is used, and the bytes that this takes.
    pub(crate) rate: TrafficRate,
    /// Errors a second.
    pub(crate) errors: f64,
    /// Bytes of one use.
    pub(crate) len: f64,
    /// How often it was used.
    pub(crate) count: u64,
}

impl UsedMember {
    /// From whom, and to whom. Signals go to all who want them, unless they are addressed.
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
    /// What there is to show `now`, by the monotonic clock, or by that of the records.
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

/// The process behind a connection, as texts that can be shown.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct ConnectionProgram {
    /// Its number.
    pub(crate) pid: Option<u32>,
    /// What people call it.
    pub(crate) label: String,
    /// The program, without its directory, and its arguments; empty if the process has gone.
    pub(crate) command: String,
}

impl ConnectionProgram {
    /// `None` if nothing is known.
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
    fn a_process_is_called_what_people_call_it() {
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
