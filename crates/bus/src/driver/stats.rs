//! `org.freedesktop.DBus.Debug.Stats`: the keys of the reference, and some that it lacks.
//!
//! Keys of our own begin with `org.diligence.`; as the specification says of such dictionaries, a
//! reader skips keys that it does not know.

use alloc::borrow::ToOwned;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use wire::body::Value;
use wire::limits::ARRAY_LEN_MAX;

use super::Call;
use super::connections::{Subject, find};
use crate::bus::Bus;
use crate::effects::Effects;
use crate::error::{BusError, ErrorKind};
use crate::peers::{OwnedRule, Peer};

pub(super) fn bus(bus: &mut Bus, call: &Call<'_>, fx: &mut Effects) -> Result<(), BusError> {
    let counters = &bus.counters;
    let stats = BTreeMap::from([
        ("Serial", Value::Uint32(bus.next_serial)),
        ("ActiveConnections", count(bus.peers.complete)),
        ("IncompleteConnections", count(bus.peers.incomplete)),
        ("MatchRules", count(counters.rules)),
        ("PeakMatchRules", count(counters.peak_rules)),
        ("PeakMatchRulesPerConnection", count(counters.peak_rules_per_peer)),
        ("BusNames", count(counters.names)),
        ("PeakBusNames", count(counters.peak_names)),
        ("PeakBusNamesPerConnection", count(counters.peak_names_per_peer)),
        ("org.diligence.Messages", Value::Uint64(counters.messages)),
        ("org.diligence.Bytes", Value::Uint64(counters.bytes)),
        ("org.diligence.Deliveries", Value::Uint64(counters.deliveries)),
        ("org.diligence.LostMessages", Value::Uint64(counters.lost)),
        ("org.diligence.RefusedMessages", Value::Uint64(counters.refused)),
        ("org.diligence.DisconnectedByBus", Value::Uint64(counters.disconnected_by_bus)),
        ("org.diligence.PendingReplies", count(bus.replies.len())),
    ]);
    bus.reply(call, &(stats,), fx)
}

pub(super) fn connection(bus: &mut Bus, call: &Call<'_>, fx: &mut Effects) -> Result<(), BusError> {
    let Subject::Peer(peer) = find(bus, call, "statistics")? else {
        return Err(ErrorKind::InvalidArgs.because(format!(
            "GetConnectionStats is not meaningful for the message bus \"{}\" itself",
            crate::peers::DRIVER_NAME
        )));
    };
    let stats = of_peer(bus, peer);
    bus.reply(call, &(stats,), fx)
}

fn of_peer(bus: &Bus, peer: &Peer) -> BTreeMap<&'static str, Value> {
    // A message is routed as soon as it is read, so nothing is ever queued on its way in.
    let incoming = Value::Uint32(0);
    BTreeMap::from([
        ("Serial", Value::Uint32(bus.next_serial)),
        ("UniqueName", Value::String(peer.name().to_string())),
        ("MatchRules", count(peer.rule_count)),
        ("PeakMatchRules", count(peer.peaks.rules)),
        ("BusNames", count(peer.name_count())),
        ("PeakBusNames", count(peer.peaks.names)),
        ("IncomingMessages", incoming.clone()),
        ("IncomingBytes", incoming.clone()),
        ("IncomingFDs", incoming),
        ("PeakIncomingBytes", amount(peer.peaks.incoming_bytes)),
        ("PeakIncomingFDs", amount(peer.peaks.incoming_fds)),
        ("OutgoingMessages", amount(peer.queued.messages)),
        ("OutgoingBytes", amount(peer.queued.bytes)),
        ("OutgoingFDs", amount(peer.queued.fds)),
        ("PeakOutgoingBytes", amount(peer.peaks.outgoing_bytes)),
        ("PeakOutgoingFDs", amount(peer.peaks.outgoing_fds)),
        ("org.diligence.SentMessages", Value::Uint64(peer.sent.messages)),
        ("org.diligence.SentBytes", Value::Uint64(peer.sent.bytes)),
        ("org.diligence.SentFDs", Value::Uint64(peer.sent.fds)),
        ("org.diligence.LostMessages", Value::Uint64(peer.lost)),
    ])
}

pub(super) fn match_rules(
    bus: &mut Bus,
    call: &Call<'_>,
    fx: &mut Effects,
) -> Result<(), BusError> {
    let mut room = ARRAY_LEN_MAX;
    let mut rules = BTreeMap::<String, Vec<String>>::new();
    for peer in bus.peers.iter().filter(|peer| peer.is_active()) {
        rules.insert(peer.name().as_str().to_owned(), rules_of(bus, peer, &mut room)?);
    }
    bus.reply(call, &(rules,), fx)
}

/// The rules of a connection, as often as it has added them. Takes their length from `room` and
/// fails if there is not enough: a rule that was added often takes more room in the list than in
/// memory.
fn rules_of(bus: &Bus, peer: &Peer, room: &mut usize) -> Result<Vec<String>, BusError> {
    let mut texts = Vec::with_capacity(peer.rule_count);
    for OwnedRule { index, id } in &peer.rules {
        let (count, rule) = bus.rules(*index).get(*id);
        let text = rule.to_string();
        let len = (text.len() + STRING_LEN_MIN).saturating_mul(count);
        *room = room.checked_sub(len).ok_or_else(too_many_rules)?;
        texts.extend(core::iter::repeat_n(text, count));
    }
    Ok(texts)
}

/// Bytes that a string takes in an array beside its text, about.
const STRING_LEN_MIN: usize = 8;

fn too_many_rules() -> BusError {
    ErrorKind::LimitsExceeded.because("The match rules do not fit in a message")
}

fn count(number: usize) -> Value {
    amount(number as u64)
}

/// A number as the interface has it: more than it can say is the most it can say.
fn amount(number: u64) -> Value {
    Value::Uint32(u32::try_from(number).unwrap_or(u32::MAX))
}
