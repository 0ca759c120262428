//! How many connections received each broadcast signal.

use std::collections::HashSet;

use foldhash::fast::RandomState;
use wire::message::MessageType;

use crate::model::{Capture, CapturedMessage, Health, PeerRole, RecordedPeer, RecordedPeerId};
use crate::record::{BusId, Fact, MessageContent};
use crate::rule_index::{RuleIndex, Selecting};
use crate::subscriptions::MatchRuleHistory;
use crate::text::units::counted;

/// The recipients of the broadcast signals of a recording: as the bus recorded them, or else by the
/// match rules of all connections. Connections of the recorder do not count.
#[derive(Debug)]
pub(crate) struct SignalRecipients {
    /// Match rules, for buses that did not record recipients; `None` if they are not known.
    rules: Option<MatchRuleHistory>,
    index: RuleIndex,
    /// Buses of which all match rules are known.
    known: HashSet<BusId, RandomState>,
}

impl SignalRecipients {
    /// Reads the match rules of a recording.
    ///
    /// # Errors
    ///
    /// If the recording shows the recipients on none of its buses.
    pub(crate) fn find(capture: &Capture) -> Result<Self, Unknowable> {
        let is_traced = capture.messages().any(|message| message.deliveries().is_some());
        let is_wanted = |_, peer| capture.directory().peer(peer).role != PeerRole::Recorder;
        let known = buses_with_known_rules(capture);
        let found = known.and_then(|known| Ok((known, read_rules(capture, is_wanted)?)));
        let (known, rules) = match found {
            Ok((known, rules)) => (known, Some(rules)),
            Err(_) if is_traced => (HashSet::default(), None),
            Err(reason) => return Err(reason),
        };
        Ok(Self { rules, known, index: RuleIndex::default() })
    }

    /// The number of recipients of a broadcast signal; `None` if it is not known.
    ///
    /// # Errors
    ///
    /// If match rules depend on arguments that the recording does not have.
    pub(crate) fn of(&mut self, signal: &CapturedMessage<'_>) -> Result<Option<u64>, Unknowable> {
        if let Some(copies) = signal.copies() {
            return Ok(Some(copies.count() as u64));
        }
        let is_known = self.known.contains(&signal.bus()) && signal.health() != Health::HeaderCut;
        let Some(rules) = self.rules.as_ref().filter(|_| is_known) else { return Ok(None) };
        let Selecting { rules: mut selecting, unsure } = self.index.selecting(rules, signal);
        if !unsure.is_empty() {
            return Err(Unknowable::ArgumentsUnread);
        }
        selecting.dedup_by_key(|&mut rule| rules.all[rule].peer);
        Ok(Some(selecting.len() as u64))
    }
}

pub(crate) fn is_broadcast(message: &CapturedMessage<'_>) -> bool {
    message.kind() == MessageType::Signal && message.destination_id().is_none()
}

/// Why a table cannot be made of a recording.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Unknowable {
    /// The recipients of a signal are unknown.
    #[error(
        "who gets a signal cannot be known: the bus has not recorded it itself, and the file has \
         not the match rules of {} that came before the recording",
        match *connections {
            0 => "connections".to_owned(),
            connections => counted(connections, "connection", "connections"),
        }
    )]
    Recipients {
        /// The number of connections that existed before the recording and whose rules it lacks. It is 0 if no
        /// such connection appears and only unique names show that there were some.
        connections: u64,
    },
    /// Calls that add or remove match rules are cut.
    #[error(
        "who asks for what cannot be known: {} of AddMatch or RemoveMatch {} cut",
        counted(*calls, "call", "calls"),
        if *calls == 1 { "is" } else { "are" }
    )]
    RulesUnread {
        /// The number of these calls.
        calls: u64,
    },
    /// Match rules compare arguments, and those of signals are cut.
    #[error(
        "who gets a signal cannot be known: match rules ask for arguments, and those of signals are cut"
    )]
    ArgumentsUnread,
    /// The recording is an excerpt, which lacks the calls that add match rules.
    #[error(
        "who gets a signal cannot be known: the bus has not recorded it itself, and match rules are \
         missing, since the file is an excerpt of a recording"
    )]
    Excerpt,
    /// The recording is redacted, and match rules that compare arguments were left out.
    #[error(
        "who asks for what cannot be known: what messages say was crossed out, and match rules that \
         ask for arguments were left out"
    )]
    Redacted,
    /// The bus did not record itself, so the times at which it had messages are unknown.
    #[error(
        "how long the bus had messages is not known: the recording is that of a monitor. Record a bus \
         of Diligence, which measures that itself"
    )]
    BusTimes,
    /// The recording lacks the times at which processes ran on a processor.
    #[error(
        "the recording does not tell when processes had a processor; one that is made by `diligence \
         record --switches` does"
    )]
    Switches,
}

/// The rules of those connections that are of interest, if they can be read.
pub(crate) fn read_rules(
    capture: &Capture,
    is_wanted: impl Fn(BusId, RecordedPeerId) -> bool,
) -> Result<MatchRuleHistory, Unknowable> {
    check_content(capture)?;
    let rules = MatchRuleHistory::find(capture, is_wanted);
    match rules.unread() {
        0 => Ok(rules),
        calls => Err(Unknowable::RulesUnread { calls }),
    }
}

/// Rules that ask for arguments are not in a recording in which arguments are not.
fn check_content(capture: &Capture) -> Result<(), Unknowable> {
    match capture.buses().iter().any(|bus| bus.content == MessageContent::Redacted) {
        true => Err(Unknowable::Redacted),
        false => Ok(()),
    }
}

/// The buses whose match rules are all known: the recorder asked for them at its start, or all connections
/// came after that.
fn buses_with_known_rules(capture: &Capture) -> Result<HashSet<BusId, RandomState>, Unknowable> {
    check_content(capture)?;
    if capture.is_excerpt() {
        return Err(Unknowable::Excerpt);
    }
    let mut known: HashSet<_, RandomState> = capture.messages().map(|one| one.bus()).collect();
    let seen: HashSet<_, RandomState> = known.clone();
    let was_before = |(_, peer): &(RecordedPeerId, &RecordedPeer)| {
        peer.arrived.is_none() && peer.unique != capture.driver() && peer.role == PeerRole::Talker
    };
    let before: Vec<_> = capture.directory().peers().filter(was_before).collect();
    known.retain(|bus| before.iter().all(|(_, peer)| peer.bus != *bus));
    known.retain(|bus| !was_busy_before(capture, *bus));
    let found = capture.facts().iter().filter(|(_, _, fact)| matches!(fact, Fact::Rule { .. }));
    known.extend(found.map(|(_, bus, _)| *bus));
    match seen.is_empty() || !known.is_empty() {
        true => Ok(known),
        false => Err(Unknowable::Recipients { connections: before.len() as u64 }),
    }
}

/// Whether there were connections that the recording does not show: buses number connections from 0, in the
/// order in which they come.
fn was_busy_before(capture: &Capture, bus: BusId) -> bool {
    let peers = || capture.directory().peers().map(|(_, peer)| peer).filter(|peer| peer.bus == bus);
    let arrivals = peers().filter(|peer| peer.arrived.is_some());
    let Some(first) = arrivals.filter_map(|peer| number(capture, peer)).min() else { return false };
    let recorders = peers().filter(|peer| peer.role == PeerRole::Recorder);
    let recorders = recorders.filter(|peer| number(capture, peer) < Some(first)).count() as u64;
    // Most recorders do not say which connection is theirs.
    first > recorders.max(1)
}

/// The number in a unique name: 7 of `:1.7`.
fn number(capture: &Capture, peer: &RecordedPeer) -> Option<u64> {
    capture.strings().get(peer.unique).rsplit('.').next()?.parse().ok()
}
