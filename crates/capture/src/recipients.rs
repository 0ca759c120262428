//! How many connections received each broadcast signal.

use std::collections::{HashMap, HashSet};
use std::fmt;

use foldhash::fast::RandomState;
use wire::message::MessageType;

use crate::match_subject::Subject;
use crate::model::{Capture, Health, Message, PeerId, Text};
use crate::record::{BusId, Content, Fact};
use crate::subscriptions::Subscriptions;
use crate::text::units::counted;

/// The recipients of the broadcast signals of a recording: as the bus recorded them, or else by the
/// match rules of all connections.
#[derive(Debug)]
pub(crate) struct Recipients {
    /// `None` if the bus recorded the recipients.
    rules: Option<Subscriptions>,
    /// The places of the rules that agree with an interface and a member.
    candidates: HashMap<(BusId, Text, Text), Vec<usize>, RandomState>,
    buffer: Vec<u8>,
}

impl Recipients {
    /// Reads the match rules of a recording, unless the bus itself recorded it.
    ///
    /// # Errors
    ///
    /// If the recording does not show the recipients.
    pub(crate) fn find(capture: &Capture) -> Result<Self, Unknowable> {
        let is_traced = capture.messages().any(|message| message.deliveries().is_some());
        if !is_traced {
            rules_are_known(capture)?;
        }
        let rules = if is_traced { None } else { Some(read_rules(capture)?) };
        Ok(Self { rules, candidates: HashMap::default(), buffer: Vec::new() })
    }

    /// The number of recipients of a broadcast signal; `None` if it is not known.
    ///
    /// # Errors
    ///
    /// If match rules depend on arguments that the recording does not have.
    pub(crate) fn of(&mut self, signal: &Message<'_>) -> Result<Option<u64>, Unknowable> {
        if let Some(copies) = signal.deliveries() {
            return Ok(Some(copies.len() as u64));
        }
        let Some(rules) = self.rules.as_ref().filter(|_| signal.health() != Health::HeaderCut)
        else {
            return Ok(None);
        };
        let key = (signal.bus(), signal.interface_id(), signal.member_id());
        let places = self.candidates.entry(key).or_insert_with(|| candidates(rules, signal)).iter();
        let there: Vec<_> =
            places.map(|&place| &rules.all[place]).filter(|one| one.is_there_at(signal)).collect();
        let has_arguments = there.iter().any(|one| !one.rule.args().is_empty());
        let body = match has_arguments {
            true => signal.capture().read_message(signal.id(), &mut self.buffer).ok().flatten(),
            false => None,
        };
        if has_arguments && body.is_none() {
            return Err(Unknowable::ArgumentsUnread);
        }
        let subject = Subject::new(signal, body);
        let peers = there.iter().filter(|one| one.rule.matches(&subject)).map(|one| one.peer);
        Ok(Some(peers.collect::<HashSet<_, RandomState>>().len() as u64))
    }
}

/// The places of the rules that agree with the bus, interface and member of a signal.
fn candidates(rules: &Subscriptions, signal: &Message<'_>) -> Vec<usize> {
    let all = rules.all.iter().enumerate().filter(|(_, one)| {
        one.bus == signal.bus()
            && one.rule.interface().is_none_or(|interface| interface == signal.interface())
            && one.rule.member().is_none_or(|member| member == signal.member())
    });
    all.map(|(place, _)| place).collect()
}

pub(crate) fn is_broadcast(message: &Message<'_>) -> bool {
    message.kind() == MessageType::Signal && message.destination_id().is_none()
}

/// Why a table cannot be made of a recording.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unknowable {
    /// Nobody can know who gets a signal.
    Recipients {
        /// Connections that were there before the recording, whose rules are not in it.
        connections: u64,
    },
    /// Calls that set match rules, or take them back, do not say which.
    RulesUnread {
        /// How many.
        calls: u64,
    },
    /// Match rules ask for arguments, and signals do not show theirs.
    ArgumentsUnread,
    /// What messages say was crossed out, and match rules that ask for arguments were left out.
    Redacted,
    /// It does not tell when processes had a processor.
    Switches,
}

impl fmt::Display for Unknowable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Recipients { connections } => write!(
                f,
                "who gets a signal cannot be known: the bus has not recorded it itself, and the \
                 file has not the match rules of {} that came before the recording",
                counted(*connections, "connection", "connections")
            ),
            Self::RulesUnread { calls } => write!(
                f,
                "who asks for what cannot be known: {} of AddMatch or RemoveMatch {} cut",
                counted(*calls, "call", "calls"),
                if *calls == 1 { "is" } else { "are" }
            ),
            Self::ArgumentsUnread => f.write_str(
                "who gets a signal cannot be known: match rules ask for arguments, and those of \
                 signals are cut",
            ),
            Self::Redacted => f.write_str(
                "who asks for what cannot be known: what messages say was crossed out, and match \
                 rules that ask for arguments were left out",
            ),
            Self::Switches => f.write_str(
                "the recording does not tell when processes had a processor; one that is made by \
                 `diligence record --switches` does",
            ),
        }
    }
}

impl std::error::Error for Unknowable {}

/// The rules of everybody, if they can be read.
pub(crate) fn read_rules(capture: &Capture) -> Result<Subscriptions, Unknowable> {
    check_content(capture)?;
    let rules = Subscriptions::find(capture, |_, _| true);
    match rules.unread() {
        0 => Ok(rules),
        calls => Err(Unknowable::RulesUnread { calls }),
    }
}

/// Rules that ask for arguments are not in a recording in which arguments are not.
fn check_content(capture: &Capture) -> Result<(), Unknowable> {
    match capture.buses().iter().any(|bus| bus.content == Content::Redacted) {
        true => Err(Unknowable::Redacted),
        false => Ok(()),
    }
}

/// They are if the recorder has asked for them at its start, or everybody came after that.
fn rules_are_known(capture: &Capture) -> Result<(), Unknowable> {
    check_content(capture)?;
    if capture.facts().iter().any(|(_, _, fact)| matches!(fact, Fact::Rule { .. })) {
        return Ok(());
    }
    let was_before = |(_, peer): &(PeerId, &crate::model::Peer)| {
        peer.arrived.is_none() && peer.unique != capture.driver()
    };
    match capture.directory().peers().filter(was_before).count() as u64 {
        0 => Ok(()),
        connections => Err(Unknowable::Recipients { connections }),
    }
}
