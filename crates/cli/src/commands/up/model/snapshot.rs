//! What there is to show at one moment.

use std::time::Duration;

use super::connections::{Connection, ConnectionStats};
use super::flow::{Amount, Rate};
use super::members::Member;
use super::{BUS, BusStats, MemberKind, Model, Note, Program};

/// What there is to show at one moment.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Snapshot {
    /// How long the bus has been watched.
    pub(crate) uptime: Duration,
    /// All traffic, without ours.
    pub(crate) rate: Rate,
    /// All traffic ever, without ours.
    pub(crate) total: Amount,
    /// Messages a second in the last steps, the latest one first.
    pub(crate) history: Vec<u64>,
    /// Well-known names.
    pub(crate) names: u64,
    /// Match rules of all connections; `None` if the bus does not tell.
    pub(crate) rules: Option<u64>,
    /// What the bus tells of itself.
    pub(crate) bus: BusStats,
    /// Connections, in no order; the bus and our connection among them.
    pub(crate) connections: Vec<ConnectionRow>,
    /// Methods and signals, in no order.
    pub(crate) members: Vec<MemberRow>,
    /// What happened, the last one first; the times are counted from the start.
    pub(crate) notes: Vec<Note>,
}

impl Snapshot {
    /// Connections other than the bus and ours.
    pub(crate) fn connection_count(&self) -> u64 {
        self.connections.iter().filter(|row| row.owner == Owner::Peer).count() as u64
    }

    /// Bytes that wait for all of these connections.
    pub(crate) fn queued(&self) -> u64 {
        let peers = self.connections.iter().filter(|row| row.owner == Owner::Peer);
        peers.filter_map(|row| row.stats).map(|stats| stats.queued).sum()
    }
}

/// Whose connection it is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Owner {
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
    pub(crate) owner: Owner,
    /// Its unique name.
    pub(crate) unique: Box<str>,
    /// Its well-known names.
    pub(crate) names: Vec<Box<str>>,
    /// Its process, if that is known.
    pub(crate) program: Option<Program>,
    /// How fast it sends.
    pub(crate) rate: Rate,
    /// What it has sent.
    pub(crate) total: Amount,
    /// What the bus tells of it.
    pub(crate) stats: Option<ConnectionStats>,
}

/// One method or signal.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct MemberRow {
    /// Method or signal.
    pub(crate) kind: MemberKind,
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
    pub(crate) rate: Rate,
    /// Errors a second.
    pub(crate) errors: f64,
    /// Bytes of one use.
    pub(crate) len: f64,
    /// How often it was used.
    pub(crate) count: u64,
}

impl MemberRow {
    /// From whom, and to whom. Signals go to all who want them, unless they are addressed.
    pub(crate) fn ends(&self) -> (String, String) {
        let others = match (&self.party, self.more_parties) {
            (None, _) => None,
            (Some(party), 0) => Some(party.clone()),
            (Some(party), more) => Some(format!("{party} +{more}")),
        };
        let owner = self.owner.clone();
        match self.kind {
            MemberKind::Method => (others.unwrap_or_else(|| String::from("?")), owner),
            MemberKind::Signal => (owner, others.unwrap_or_else(|| String::from("*"))),
        }
    }
}

impl Model {
    /// What there is to show `now`.
    pub(crate) fn snapshot(&self, now: Duration) -> Snapshot {
        let connections: Vec<_> =
            self.connections.iter().map(|(name, known)| self.connection_row(name, known)).collect();
        let known_rules = connections.iter().filter(|row| row.owner == Owner::Peer);
        let known_rules: Vec<u64> =
            known_rules.filter_map(|row| row.stats).map(|stats| stats.rules).collect();
        Snapshot {
            uptime: now.saturating_sub(self.started),
            rate: self.traffic.rate(&self.window),
            total: self.traffic.total(),
            history: self.history.iter().copied().collect(),
            names: self.connections.names() as u64,
            rules: (!known_rules.is_empty()).then(|| known_rules.iter().sum()),
            bus: self.bus,
            connections,
            members: self.members.iter().map(|member| self.member_row(member)).collect(),
            notes: self.notes.latest().map(|note| self.since_start(note)).collect(),
        }
    }

    fn since_start(&self, note: &Note) -> Note {
        Note { at: note.at.saturating_sub(self.started), ..note.clone() }
    }

    fn connection_row(&self, unique: &str, connection: &Connection) -> ConnectionRow {
        let owner = match unique {
            BUS => Owner::Bus,
            _ if self.is_own(unique) => Owner::View,
            _ => Owner::Peer,
        };
        ConnectionRow {
            owner,
            unique: unique.into(),
            names: connection.names.clone(),
            program: connection.program.clone(),
            rate: connection.sent.rate(&self.window),
            total: connection.sent.total(),
            stats: connection.stats,
        }
    }

    fn member_row(&self, member: &Member) -> MemberRow {
        let mut parties = member.parties();
        MemberRow {
            kind: member.kind,
            interface: member.interface.clone(),
            member: member.member.clone(),
            owner: self.owner_label(&member.owner),
            party: parties.next().map(|name| self.connections.label(name).into_owned()),
            more_parties: parties.len(),
            rate: member.uses.rate(&self.window),
            errors: member.errors.rate(&self.window).messages,
            len: member.typical_len(),
            count: member.uses.total().messages,
        }
    }

    fn owner_label(&self, owner: &str) -> String {
        if owner == BUS { String::from("bus") } else { self.connections.label(owner).into_owned() }
    }
}
