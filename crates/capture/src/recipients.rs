//! The number of recipients of each broadcast signal.

use std::collections::HashSet;

use foldhash::fast::RandomState;
use wire::message::MessageType;

use crate::model::{Capture, CapturedMessage, Health, PeerRole, RecordedPeer, RecordedPeerId};
use crate::record::{BusId, Fact, MessageContent};
use crate::rule_index::{MatchedRules, RuleIndex};
use crate::subscriptions::MatchRuleHistory;
use crate::text::units::counted;

/// The recipients of the broadcast signals of a recording: as the bus recorded them, or else
/// determined from the match rules of all connections. Connections of the recorder are not counted.
#[derive(Debug)]
pub(crate) struct SignalRecipients {
    /// The match rules, for buses that did not record recipients; `None` if they are unknown.
    rules: Option<MatchRuleHistory>,
    index: RuleIndex,
    /// The buses whose match rules are all known.
    known: HashSet<BusId, RandomState>,
}

impl SignalRecipients {
    /// Reads the match rules of a recording.
    ///
    /// # Errors
    ///
    /// If the recording shows the recipients on none of its buses.
    pub(crate) fn find(capture: &Capture) -> Result<Self, UnknownReason> {
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
    pub(crate) fn of(
        &mut self,
        signal: &CapturedMessage<'_>,
    ) -> Result<Option<u64>, UnknownReason> {
        if let Some(copies) = signal.copies() {
            return Ok(Some(copies.count() as u64));
        }
        let is_known = self.known.contains(&signal.bus()) && signal.health() != Health::HeaderCut;
        let Some(rules) = self.rules.as_ref().filter(|_| is_known) else { return Ok(None) };
        let MatchedRules { rules: mut selecting, unsure } = self.index.selecting(rules, signal);
        if !unsure.is_empty() {
            return Err(UnknownReason::ArgumentsUnread);
        }
        selecting.dedup_by_key(|&mut rule| rules.all[rule].peer);
        Ok(Some(selecting.len() as u64))
    }
}

pub(crate) fn is_broadcast(message: &CapturedMessage<'_>) -> bool {
    message.kind() == MessageType::Signal && message.destination_id().is_none()
}

/// The reasons why a result cannot be computed from a recording.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum UnknownReason {
    /// The recipients of a signal are unknown.
    #[error(
        "the bus did not record the recipients of signals, and the file lacks the match rules of {} \
         that existed before the recording",
        match *connections {
            0 => "connections".to_owned(),
            connections => counted(connections, "connection", "connections"),
        }
    )]
    Recipients {
        /// The number of connections that existed before the recording and whose match rules are
        /// missing. It is 0 if no such connection appears and only the unique names show that there
        /// were some.
        connections: u64,
    },
    /// Calls that add or remove match rules are cut.
    #[error(
        "the match rules are unknown: {} of AddMatch or RemoveMatch {} cut",
        counted(*calls, "call", "calls"),
        if *calls == 1 { "is" } else { "are" }
    )]
    RulesUnread {
        /// The number of calls that are cut.
        calls: u64,
    },
    /// Match rules compare arguments, and the arguments of signals are cut.
    #[error("the recipients of signals depend on arguments, and the arguments of signals are cut")]
    ArgumentsUnread,
    /// The recording is an excerpt, which lacks the calls that add match rules.
    #[error(
        "the bus did not record the recipients of signals, and the file lacks match rules, as it is an \
         excerpt of a recording"
    )]
    Excerpt,
    /// The recording is redacted, and match rules that compare arguments were left out.
    #[error(
        "the match rules are unknown: the recording is redacted, and match rules that compare arguments \
         were left out"
    )]
    Redacted,
    /// The bus did not record itself, so the times that it took for messages are unknown.
    #[error(
        "how long the bus took for messages is unknown, as a monitor made the recording; record a \
         Diligence bus, which measures these times itself"
    )]
    BusTimes,
    /// The recording lacks the times at which processes ran on a processor.
    #[error(
        "the recording does not show when processes ran on a processor; record with `diligence record \
         --switches`"
    )]
    Switches,
}

/// The match rules of the wanted connections, if they can be read.
pub(crate) fn read_rules(
    capture: &Capture,
    is_wanted: impl Fn(BusId, RecordedPeerId) -> bool,
) -> Result<MatchRuleHistory, UnknownReason> {
    check_content(capture)?;
    let rules = MatchRuleHistory::find(capture, is_wanted);
    match rules.unread() {
        0 => Ok(rules),
        calls => Err(UnknownReason::RulesUnread { calls }),
    }
}

/// Fails if the recording is redacted: it lacks the match rules that compare arguments.
fn check_content(capture: &Capture) -> Result<(), UnknownReason> {
    match capture.buses().iter().any(|bus| bus.content == MessageContent::Redacted) {
        true => Err(UnknownReason::Redacted),
        false => Ok(()),
    }
}

/// The buses whose match rules are all known: the recorder read them at its start, or all
/// connections arrived later.
fn buses_with_known_rules(capture: &Capture) -> Result<HashSet<BusId, RandomState>, UnknownReason> {
    check_content(capture)?;
    if capture.is_excerpt() {
        return Err(UnknownReason::Excerpt);
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
        false => Err(UnknownReason::Recipients { connections: before.len() as u64 }),
    }
}

/// Returns true if there were connections that the recording does not show. Buses number
/// connections from 0, in the order of their arrival.
fn was_busy_before(capture: &Capture, bus: BusId) -> bool {
    let peers = || capture.directory().peers().map(|(_, peer)| peer).filter(|peer| peer.bus == bus);
    let arrivals = peers().filter(|peer| peer.arrived.is_some());
    let Some(first) = arrivals.filter_map(|peer| number(capture, peer)).min() else { return false };
    let recorders = peers().filter(|peer| peer.role == PeerRole::Recorder);
    let recorders = recorders.filter(|peer| number(capture, peer) < Some(first)).count() as u64;
    // Most recorders do not mark their own connection.
    first > recorders.max(1)
}

/// The number in a unique name: 7 for `:1.7`.
fn number(capture: &Capture, peer: &RecordedPeer) -> Option<u64> {
    capture.strings().get(peer.unique).rsplit('.').next()?.parse().ok()
}
