//! How many get each signal.

use std::collections::{BTreeMap, HashSet};
use std::fmt;

use foldhash::fast::RandomState;
use wire::message::MessageType;

use crate::model::{Capture, Message, PeerId};
use crate::query::Subject;
use crate::record::{Content, Fact};
use crate::subscriptions::{Standing, Subscription, Subscriptions};
use crate::table::{Cell, Column, Table, Unit};
use crate::text::units::counted;

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

/// How many broadcast signals had how many recipients: as the bus has written, or else by the match
/// rules of all connections.
///
/// # Errors
///
/// If neither is known.
pub fn recipients(
    capture: &Capture,
    mut selects: impl FnMut(&Message<'_>) -> bool,
) -> Result<Table, Unknowable> {
    let is_traced = capture.messages().any(|message| message.deliveries().is_some());
    if !is_traced {
        rules_are_known(capture)?;
    }
    let rules = match is_traced {
        true => Subscriptions::default(),
        false => read_rules(capture)?,
    };
    let mut rules = Standing::of_start(&rules);
    let mut buffer = Vec::new();
    let mut histogram: BTreeMap<u64, (u64, u64)> = BTreeMap::new();
    for message in capture.messages() {
        if !is_broadcast(&message) || !selects(&message) {
            continue;
        }
        let count = match message.deliveries() {
            Some(copies) => copies.len() as u64,
            None if is_traced => continue,
            None => wanted_by(rules.at(&message), &message, &mut buffer)?,
        };
        let (signals, bytes) = histogram.entry(count).or_default();
        *signals += 1;
        *bytes += u64::from(message.len()) * count;
    }
    Ok(as_table(&histogram))
}

fn as_table(histogram: &BTreeMap<u64, (u64, u64)>) -> Table {
    let mut table = Table::new([
        Column::number("recipients", Unit::Count),
        Column::number("signals", Unit::Count),
        Column::number("share", Unit::Share),
        Column::number("copies", Unit::Count),
        Column::number("copied", Unit::Bytes),
    ]);
    let all = histogram.values().map(|(signals, _)| signals).sum();
    for (&recipients, &(signals, bytes)) in histogram {
        table.push([
            Cell::Count(recipients),
            Cell::Count(signals),
            Cell::share(signals, all),
            Cell::Count(signals * recipients),
            Cell::Bytes(bytes),
        ]);
    }
    table
}

fn is_broadcast(message: &Message<'_>) -> bool {
    message.kind() == MessageType::Signal && message.destination_id().is_none()
}

/// How many connections have a rule that selects the signal, of those rules that are there.
fn wanted_by(
    rules: &[&Subscription],
    message: &Message<'_>,
    buffer: &mut Vec<u8>,
) -> Result<u64, Unknowable> {
    let rules = || rules.iter().filter(|one| one.bus == message.bus());
    let has_arguments = rules().any(|one| !one.rule.args().is_empty());
    let body = match has_arguments {
        true => message.capture().read_message(message.id(), buffer).ok().flatten(),
        false => None,
    };
    if has_arguments && body.is_none() {
        return Err(Unknowable::ArgumentsUnread);
    }
    let subject = Subject::new(message, body);
    let wanting = rules().filter(|one| one.rule.matches(&subject)).map(|one| one.peer);
    Ok(wanting.collect::<HashSet<_, RandomState>>().len() as u64)
}

/// The rules of everybody, if they can be read.
pub(super) fn read_rules(capture: &Capture) -> Result<Subscriptions, Unknowable> {
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
