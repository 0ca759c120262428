//! What went wrong: the last connections that were ended, messages that were refused and signals
//! that were lost, with who it was; and how often each reason has come up.
//!
//! It is bounded whatever happens. Each kind of trouble has its own places, so that much of one
//! does not push out another; and what a process does again and again is one entry that is counted
//! up.

use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::collections::{BTreeMap, VecDeque};
use alloc::string::String;
use alloc::vec::Vec;

use crate::bus::Bus;
use crate::effects::Cause;
use crate::input::{PeerId, Process};
use crate::peers::{Losing, Peer};
use crate::reached::Reached;
use crate::time::Time;

/// What kind of trouble it was.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Trouble {
    /// A connection was ended by the bus.
    Disconnected,
    /// Somebody wanted to connect and was not let in, or not past Hello. If the bus had begun to
    /// serve him, he was disconnected too, or his Hello was refused.
    TurnedAway,
    /// Somebody wanted to connect and had to wait.
    Delayed,
    /// A message was refused, and its sender was told.
    Refused,
    /// A connection did not get a message, by the policy, and nobody was told.
    Withheld,
    /// A connection did not read, and lost messages that were not addressed to it alone.
    Lost,
    /// A service did not start.
    StartFailed,
    /// The system did not let the bus do something.
    Fault,
}

impl Trouble {
    /// All kinds.
    pub const ALL: [Self; 8] = [
        Self::Disconnected,
        Self::TurnedAway,
        Self::Delayed,
        Self::Refused,
        Self::Withheld,
        Self::Lost,
        Self::StartFailed,
        Self::Fault,
    ];

    /// The kind in one word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Disconnected => "disconnected",
            Self::TurnedAway => "turned-away",
            Self::Delayed => "delayed",
            Self::Refused => "refused",
            Self::Withheld => "withheld",
            Self::Lost => "lost",
            Self::StartFailed => "start-failed",
            Self::Fault => "fault",
        }
    }
}

/// Who it was, as it was known then.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Culprit {
    /// The connection; none for a service that has not come, for those who were not served, and for
    /// the bus itself.
    pub peer: Option<PeerId>,
    /// Its unique name, if it had one.
    pub unique_name: Option<Box<str>>,
    /// Well-known names that it owned, the first [`NAMES_MAX`] of them.
    pub names: Vec<Box<str>>,
    /// Its process.
    pub pid: Option<u32>,
    /// Its user.
    pub uid: Option<u32>,
    /// What the process is called, if that was asked.
    pub process: Process,
}

impl Culprit {
    /// A connection, by what it is known again.
    pub(crate) fn nameless(peer: &Peer) -> Self {
        let pid = peer.credentials.pid;
        Self { peer: Some(peer.id), pid, uid: peer.uid, ..Self::default() }
    }

    /// Whether both are the same process, or the same connection where no process is known. Those
    /// who were not served are the same if their user is: they may be a new process each time.
    fn is_same(&self, other: &Self) -> bool {
        let same_process = self.pid.is_some() && self.pid == other.pid && self.uid == other.uid;
        let same_peer = self.peer.is_some() && self.peer == other.peer;
        let same_outside = self.peer.is_none()
            && other.peer.is_none()
            && (&self.names, self.uid) == (&other.names, other.uid);
        same_process || same_peer || same_outside
    }
}

/// One piece of trouble, or the same one several times.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Incident {
    /// What kind.
    pub trouble: Trouble,
    /// Why, in one word: the name of the limit that was reached, of the error, or of the rule that
    /// was broken.
    pub cause: &'static str,
    /// Who.
    pub who: Culprit,
    /// Why, as a sentence; that of the last time.
    pub text: String,
    /// The limit that was reached, if it was one; that of the last time.
    pub reached: Option<Reached>,
    /// How often. Of losses it is how many messages.
    pub count: u64,
    /// The first time.
    pub first: Time,
    /// The last time.
    pub last: Time,
}

impl Incident {
    /// One that has happened for the first time.
    pub(crate) const fn new(
        trouble: Trouble,
        cause: &'static str,
        who: Culprit,
        text: String,
        reached: Option<Reached>,
        now: Time,
    ) -> Self {
        Self { trouble, cause, who, text, reached, count: 1, first: now, last: now }
    }
}

/// Messages that a connection did not get.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Missed {
    /// All of them.
    pub(crate) messages: u64,
    /// Those that its entry does not know of yet.
    untold: u64,
    last: Time,
}

impl Missed {
    /// The first one, for which an entry is made.
    pub(crate) const fn first(now: Time) -> Self {
        Self { messages: 1, untold: 0, last: now }
    }

    /// One more.
    #[inline]
    pub(crate) const fn another(&mut self, now: Time) {
        self.messages += 1;
        self.untold += 1;
        self.last = now;
    }
}

/// The last incidents, and how often each cause has come up.
#[derive(Debug, Default)]
pub(crate) struct History {
    incidents: [VecDeque<Incident>; Trouble::ALL.len()],
    totals: BTreeMap<(Trouble, &'static str), u64>,
}

impl History {
    /// Counts trouble, whether or not it is worth an entry.
    pub(crate) fn count(&mut self, trouble: Trouble, cause: &'static str) {
        *self.totals.entry((trouble, cause)).or_default() += 1;
    }

    /// Adds an incident, which has been counted already. The same process with the same trouble
    /// keeps its entry, which becomes the newest.
    pub(crate) fn add(&mut self, incident: Incident) {
        let list = &mut self.incidents[incident.trouble as usize];
        let same =
            |other: &Incident| other.cause == incident.cause && other.who.is_same(&incident.who);
        let earlier = list.iter().position(same).and_then(|at| list.remove(at));
        let incident = match earlier {
            Some(Incident { count, first, who, .. }) => {
                let is_named = incident.who.process.is_known() || incident.who.pid != who.pid;
                let process = if is_named { incident.who.process } else { who.process };
                let who = Culprit { process, ..incident.who };
                Incident { count: count + incident.count, first, who, ..incident }
            }
            None => incident,
        };
        if list.len() == INCIDENTS_MAX {
            list.pop_front();
        }
        list.push_back(incident);
    }

    /// Counts more messages that a connection did not get since its entry was made, which may by
    /// now be that of another connection of the same process.
    pub(crate) fn add_more(&mut self, trouble: Trouble, who: &Culprit, missed: &mut Missed) {
        if missed.untold == 0 {
            return;
        }
        let list = &mut self.incidents[trouble as usize];
        if let Some(incident) = list.iter_mut().rev().find(|it| it.who.is_same(who)) {
            incident.count += core::mem::take(&mut missed.untold);
            incident.last = incident.last.max(missed.last);
        }
    }

    /// Takes note of what a process is called.
    pub(crate) fn describe(&mut self, peer: PeerId, process: &Process) {
        for incident in self.incidents.iter_mut().flatten() {
            if incident.who.peer == Some(peer) && !incident.who.process.is_known() {
                incident.who.process = process.clone();
            }
        }
    }

    /// The incidents, by kind, each from the earliest to the latest.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Incident> {
        self.incidents.iter().flatten()
    }

    /// How often each cause has come up.
    pub(crate) fn totals(&self) -> impl Iterator<Item = (Trouble, &'static str, u64)> {
        self.totals.iter().map(|((trouble, cause), count)| (*trouble, *cause, *count))
    }
}

impl Bus {
    /// Who a connection is; `None` if it is there no more.
    pub fn culprit(&self, id: PeerId) -> Option<Culprit> {
        let peer = self.peers.get(id)?;
        Some(Culprit {
            peer: Some(id),
            unique_name: peer.unique_name().map(Into::into),
            names: self.owned_names(id).take(NAMES_MAX).map(Into::into).collect(),
            pid: peer.credentials.pid,
            uid: peer.uid,
            process: peer.process.as_deref().cloned().unwrap_or_default(),
        })
    }

    /// Takes note of trouble with a connection.
    pub(crate) fn note(
        &mut self,
        trouble: Trouble,
        cause: &'static str,
        peer: PeerId,
        text: &str,
        reached: Option<Reached>,
    ) {
        let Some(who) = self.culprit(peer) else { return };
        let text = text.to_owned();
        self.history.add(Incident::new(trouble, cause, who, text, reached, self.now));
    }

    /// Brings the entries about what goes on all the time up to date.
    pub(crate) fn settle_history(&mut self) {
        for peer in self.peers.iter_mut() {
            let who = Culprit::nameless(peer);
            let Peer { withheld, losing, .. } = peer;
            self.history.add_more(Trouble::Withheld, &who, withheld);
            if let Some(Losing { missed, .. }) = losing {
                self.history.add_more(Trouble::Lost, &who, missed);
            }
        }
    }

    /// Takes note of a service that did not start.
    pub(crate) fn note_failed_start(&mut self, name: &str, cause: &Cause, text: &str) {
        let (trouble, cause) = (Trouble::StartFailed, cause.word());
        self.history.count(trouble, cause);
        let who = Culprit { names: [name.into()].into(), ..Culprit::default() };
        self.history.add(Incident::new(trouble, cause, who, text.to_owned(), None, self.now));
    }
}

/// Entries of each kind of trouble.
pub(crate) const INCIDENTS_MAX: usize = 64;

/// Well-known names that are told of one connection.
pub const NAMES_MAX: usize = 3;

#[cfg(test)]
mod tests {
    use super::*;

    fn incident(index: u32, pid: Option<u32>, cause: &'static str, at: u64) -> Incident {
        let who = Culprit {
            peer: Some(PeerId::new(index, 0)),
            unique_name: None,
            names: Vec::new(),
            pid,
            uid: Some(1000),
            process: Process::default(),
        };
        let (trouble, text, now) = (Trouble::Refused, String::new(), Time::from_nanos(at));
        Incident { trouble, cause, who, text, reached: None, count: 1, first: now, last: now }
    }

    fn kept(history: &History) -> Vec<(usize, u64, u64, u64)> {
        let row = |it: &Incident| {
            (
                it.who.peer.map_or(0, PeerId::index),
                it.count,
                it.first.as_nanos(),
                it.last.as_nanos(),
            )
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
        assert_eq!(kept(&history).len(), 5, "who is not known may be two");
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
        let names: Vec<_> = history.iter().map(|it| it.who.process.comm.as_deref()).collect();
        assert_eq!(names, [Some("prog")]);
    }
}
