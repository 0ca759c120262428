//! The history: the last incidents, such as refused messages, lost signals and connections that the
//! bus ended, with the peer and the reason; and how often each reason has occurred.
//!
//! Its size is bounded. Each kind of incident has its own list, so that many of one kind do not push
//! out another. If a process causes the same incident again, its entry is counted up.

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::collections::{BTreeMap, VecDeque};
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::types::{
    End, ForeignError, KernelShortage, LimitHit, PeerId, PeerSnapshot, Process, RefusalReason,
    StartProblem, Time,
};

/// The kinds of incidents.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub enum IncidentKind {
    /// The bus ended a connection.
    Disconnected,
    /// The bus rejected a connecting peer or refused its Hello. If the bus had already begun to
    /// serve the peer, it disconnected it, too.
    Rejected,
    /// The bus made a connecting peer wait.
    Delayed,
    /// A message was refused, and its sender got an error.
    Refused,
    /// A policy withheld a message from a recipient. The sender got no error.
    Withheld,
    /// The bus dropped copies of messages, because the queue of the recipient was full or the kernel
    /// did not accept them.
    Lost,
    /// A service did not start.
    StartFailed,
    /// A call to the operating system failed.
    Fault,
}

impl IncidentKind {
    /// All kinds of incidents, in order of declaration.
    pub const ALL: [Self; 8] = [
        Self::Disconnected,
        Self::Rejected,
        Self::Delayed,
        Self::Refused,
        Self::Withheld,
        Self::Lost,
        Self::StartFailed,
        Self::Fault,
    ];

    /// The word for this kind in logs and statistics: `rejected`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Disconnected => "disconnected",
            Self::Rejected => "rejected",
            Self::Delayed => "delayed",
            Self::Refused => "refused",
            Self::Withheld => "withheld",
            Self::Lost => "lost",
            Self::StartFailed => "start-failed",
            Self::Fault => "fault",
        }
    }
}

/// An incident, or several equal incidents of one process.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Incident {
    /// The kind of incident.
    pub kind: IncidentKind,
    /// The reason in one word: the name of the limit that was hit, of the error, or of the rule that
    /// was broken.
    pub cause: Cow<'static, str>,
    /// The peer that caused the incident, or that it happened to.
    pub peer: PeerSnapshot,
    /// The reason of the most recent occurrence. It reads as a sentence.
    pub reason: IncidentReason,
    /// The limit that the most recent occurrence hit, if any.
    pub reached: Option<LimitHit>,
    /// The number of occurrences. For lost messages, the number of messages.
    pub count: u64,
    /// The time of the first occurrence.
    pub first: Time,
    /// The time of the most recent occurrence.
    pub last: Time,
}

impl Incident {
    /// Creates an incident that has occurred once.
    #[must_use]
    pub const fn new(
        kind: IncidentKind,
        cause: &'static str,
        peer: PeerSnapshot,
        reason: IncidentReason,
        reached: Option<LimitHit>,
        now: Time,
    ) -> Self {
        let cause = Cow::Borrowed(cause);
        Self { kind, cause, peer, reason, reached, count: 1, first: now, last: now }
    }
}

/// The reason of an incident, with its details.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum IncidentReason {
    /// The bus ended a connection.
    Disconnected(End),
    /// The bus refused or withheld a message.
    Refused(RefusalReason),
    /// The recipient did not read its queue.
    NotReading,
    /// The kernel did not accept a message for the socket of the recipient.
    Undelivered(KernelShortage),
    /// An activated service did not start.
    StartFailed {
        /// The well-known name of the service.
        name: Box<str>,
        /// The reason of the failure.
        problem: StartProblem,
    },
    /// A failure that the daemon reported to the bus.
    Foreign(ForeignError),
}

impl fmt::Display for IncidentReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Disconnected(end) => end.fmt(f),
            Self::Refused(reason) => reason.fmt(f),
            Self::NotReading => f.write_str("it does not read"),
            Self::Undelivered(shortage) => f.write_str(shortage.as_str()),
            Self::StartFailed { name, problem } => problem.describe(name).fmt(f),
            Self::Foreign(error) => error.fmt(f),
        }
    }
}

/// Counts messages that a connection missed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(crate) struct MissedCount {
    /// All messages that the connection missed.
    pub(crate) messages: u64,
    /// Messages that the entry in the history does not count yet.
    unrecorded: u64,
    last: Time,
}

impl MissedCount {
    /// Counts the first missed message, for which the history gets an entry.
    pub(crate) const fn first(now: Time) -> Self {
        Self { messages: 1, unrecorded: 0, last: now }
    }

    /// Counts another missed message.
    #[inline]
    pub(crate) const fn another(&mut self, now: Time) {
        self.messages += 1;
        self.unrecorded += 1;
        self.last = now;
    }
}

/// The most recent incidents, and how often each cause has occurred.
#[derive(Debug, Default, Deserialize)]
#[serde(from = "SavedHistory<'static>")]
pub(crate) struct History {
    incidents: [VecDeque<Incident>; IncidentKind::ALL.len()],
    totals: BTreeMap<(IncidentKind, Cow<'static, str>), u64>,
}

impl History {
    /// Counts an incident, even if the history does not keep an entry of it.
    pub(crate) fn count(&mut self, kind: IncidentKind, cause: impl Into<Cow<'static, str>>) {
        *self.totals.entry((kind, cause.into())).or_default() += 1;
    }

    /// Adds an incident that has been counted already. If the same process had an incident with the
    /// same cause, that entry is updated and becomes the newest.
    pub(crate) fn add(&mut self, incident: Incident) {
        let list = &mut self.incidents[incident.kind as usize];
        let same =
            |other: &Incident| other.cause == incident.cause && other.peer.is_same(&incident.peer);
        let earlier = list.iter().position(same).and_then(|at| list.remove(at));
        let incident = match earlier {
            Some(Incident { count, first, peer, .. }) => {
                let is_named = incident.peer.process.is_known() || incident.peer.pid != peer.pid;
                let process = if is_named { incident.peer.process } else { peer.process };
                let peer = PeerSnapshot { process, ..incident.peer };
                Incident { count: count + incident.count, first, peer, ..incident }
            }
            None => incident,
        };
        if list.len() == INCIDENTS_MAX {
            list.pop_front();
        }
        list.push_back(incident);
    }

    /// Counts more messages that a connection missed since its entry was made. Another connection
    /// of the same process may have taken over the entry.
    pub(crate) fn add_more(
        &mut self,
        kind: IncidentKind,
        peer: &PeerSnapshot,
        missed: &mut MissedCount,
    ) {
        if missed.unrecorded == 0 {
            return;
        }
        let list = &mut self.incidents[kind as usize];
        if let Some(incident) = list.iter_mut().rev().find(|it| it.peer.is_same(peer)) {
            incident.count += core::mem::take(&mut missed.unrecorded);
            incident.last = incident.last.max(missed.last);
        }
    }

    /// Adds the description of a process to the entries of its connection.
    pub(crate) fn describe(&mut self, peer: PeerId, process: &Process) {
        for incident in self.incidents.iter_mut().flatten() {
            if incident.peer.id == Some(peer) && !incident.peer.process.is_known() {
                incident.peer.process = process.clone();
            }
        }
    }

    /// The incidents by kind, and each kind from the oldest to the newest.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Incident> {
        self.incidents.iter().flatten()
    }

    /// The number of occurrences of each cause.
    pub(crate) fn totals(&self) -> impl Iterator<Item = (IncidentKind, &str, u64)> {
        self.totals.iter().map(|((kind, cause), count)| (*kind, &**cause, *count))
    }
}

/// The history in the saved state.
#[derive(Serialize, Deserialize)]
struct SavedHistory<'h> {
    /// By kind, and each kind from the oldest to the newest.
    incidents: Vec<Cow<'h, Incident>>,
    totals: Vec<(IncidentKind, Cow<'h, str>, u64)>,
}

impl Serialize for History {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let incidents = self.iter().map(Cow::Borrowed).collect();
        let total = |(kind, cause, count)| (kind, Cow::Borrowed(cause), count);
        SavedHistory { incidents, totals: self.totals().map(total).collect() }.serialize(serializer)
    }
}

impl From<SavedHistory<'_>> for History {
    fn from(saved: SavedHistory<'_>) -> Self {
        let mut history = Self::default();
        for incident in saved.incidents {
            history.incidents[incident.kind as usize].push_back(incident.into_owned());
        }
        let total = |(kind, cause, count): (_, Cow<'_, str>, _)| {
            ((kind, Cow::Owned(cause.into_owned())), count)
        };
        history.totals = saved.totals.into_iter().map(total).collect();
        history
    }
}

/// Saves the text of the reason, because a restored reason is only read by people.
impl Serialize for IncidentReason {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for IncidentReason {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(|text| Self::Foreign(ForeignError::of_text(text)))
    }
}

/// Maximum number of entries of each kind.
pub(crate) const INCIDENTS_MAX: usize = 64;

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    fn incident(index: u32, pid: Option<u32>, cause: &'static str, at: u64) -> Incident {
        let peer = PeerSnapshot {
            id: Some(PeerId::new(index, 0)),
            unique_name: None,
            names: Vec::new(),
            pid,
            uid: Some(1000),
            process: Process::default(),
            container: None,
        };
        let (kind, now) = (IncidentKind::Lost, Time::from_nanos(at));
        Incident::new(kind, cause, peer, IncidentReason::NotReading, None, now)
    }

    fn kept(history: &History) -> Vec<(usize, u64, u64, u64)> {
        let row = |it: &Incident| {
            (it.peer.id.map_or(0, PeerId::index), it.count, it.first.as_nanos(), it.last.as_nanos())
        };
        history.iter().map(row).collect()
    }

    #[test]
    fn the_same_again_is_counted_and_becomes_the_newest() {
        let mut history = History::default();
        history.add(incident(1, Some(7), "limit", 10));
        history.add(incident(2, Some(8), "limit", 20));
        history.add(incident(3, Some(7), "limit", 30));
        assert_eq!(
            kept(&history),
            [(2, 1, 20, 20), (3, 2, 10, 30)],
            "one process, two connections"
        );
        history.add(incident(3, Some(7), "rights", 40));
        assert_eq!(kept(&history).len(), 3, "for another reason");
        history.add(incident(4, None, "limit", 50));
        history.add(incident(5, None, "limit", 60));
        assert_eq!(kept(&history).len(), 5, "two unknown peers may differ");
    }

    #[test]
    fn the_oldest_goes_when_there_is_no_place() {
        let mut history = History::default();
        for index in 0..INCIDENTS_MAX as u32 + 10 {
            history.add(incident(index, Some(index), "limit", u64::from(index)));
        }
        let kept = kept(&history);
        assert_eq!((kept.len(), kept[0].0), (INCIDENTS_MAX, 10));
    }

    #[test]
    fn a_process_gets_its_name_when_it_is_known() {
        let mut history = History::default();
        history.add(incident(1, Some(7), "limit", 10));
        let process = Process { comm: Some("prog".into()), ..Process::default() };
        history.describe(PeerId::new(1, 0), &process);
        history.add(incident(1, Some(7), "limit", 20));
        let names: Vec<_> = history.iter().map(|it| it.peer.process.comm.as_deref()).collect();
        assert_eq!(names, [Some("prog")]);
    }
}
