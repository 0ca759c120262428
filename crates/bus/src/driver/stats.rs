//! `org.freedesktop.DBus.Debug.Stats`: the keys of dbus-daemon, and additional keys.
//!
//! Additional keys begin with `org.diligence.`. The specification requires readers of such
//! dictionaries to ignore unknown keys.

use alloc::borrow::ToOwned;
use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use wire::body::Value;
use wire::limits::ARRAY_LEN_MAX;

use super::call::{Call, Driver};
use super::connections::{Subject, find};
use crate::registry::Peer;
use crate::routing::Router;
use crate::types::{ConnectionFact, Effects, RefusalReason};

pub(super) fn bus(
    driver: &mut Driver<'_>,
    call: &Call<'_>,
    fx: &mut Effects,
) -> Result<(), RefusalReason> {
    let Router { accounting, registry, matching, calls, lanes, .. } = &*driver.router;
    let (totals, rules, names) = (accounting.totals(), matching.counts(), registry.name_counts());
    let stats = BTreeMap::from([
        ("Serial", Value::Uint32(driver.router.next_serial())),
        ("ActiveConnections", count(registry.registered())),
        ("IncompleteConnections", count(registry.unregistered())),
        ("MatchRules", count(rules.current)),
        ("PeakMatchRules", count(rules.peak)),
        ("PeakMatchRulesPerConnection", count(rules.peak_of_peer)),
        ("BusNames", count(names.current)),
        ("PeakBusNames", count(names.peak)),
        ("PeakBusNamesPerConnection", count(names.peak_of_peer)),
        ("org.diligence.Messages", Value::Uint64(totals.messages)),
        ("org.diligence.Bytes", Value::Uint64(totals.bytes)),
        ("org.diligence.Deliveries", Value::Uint64(totals.deliveries)),
        ("org.diligence.LostMessages", Value::Uint64(totals.lost)),
        ("org.diligence.RefusedMessages", Value::Uint64(totals.refused)),
        ("org.diligence.DisconnectedByBus", Value::Uint64(totals.disconnected)),
        ("org.diligence.PendingReplies", count(calls.len())),
        ("org.diligence.Lanes", count(lanes.open_count())),
        ("org.diligence.LaneMessages", Value::Uint64(totals.lane_messages)),
        ("org.diligence.LaneBytes", Value::Uint64(totals.lane_bytes)),
    ]);
    driver.reply(call, &(stats,), fx)
}

pub(super) fn connection(
    driver: &mut Driver<'_>,
    call: &Call<'_>,
    fx: &mut Effects,
) -> Result<(), RefusalReason> {
    let Subject::Peer(peer) = find(driver.router, call, ConnectionFact::Statistics)? else {
        return Err(RefusalReason::NoStatisticsOfBus);
    };
    let stats = of_peer(driver.router, &driver.router.registry[peer]);
    driver.reply(call, &(stats,), fx)
}

fn of_peer(router: &Router, peer: &Peer) -> BTreeMap<&'static str, Value> {
    // A message is routed as soon as it is read, so there is no queue for incoming messages.
    let incoming = Value::Uint32(0);
    let (counts, queued) = (&peer.statistics, peer.queue.amount());
    let ((peak_bytes, peak_fds), rules) = (peer.queue.peaks(), router.matching.counts_of(peer.id));
    BTreeMap::from([
        ("Serial", Value::Uint32(router.next_serial())),
        ("UniqueName", Value::String(peer.name().to_string())),
        ("MatchRules", count(rules.current)),
        ("PeakMatchRules", count(rules.peak)),
        ("BusNames", count(peer.name_count())),
        ("PeakBusNames", count(peer.peak_names())),
        ("IncomingMessages", incoming.clone()),
        ("IncomingBytes", incoming.clone()),
        ("IncomingFDs", incoming),
        ("PeakIncomingBytes", amount(counts.peak_sent_bytes)),
        ("PeakIncomingFDs", amount(counts.peak_sent_fds)),
        ("OutgoingMessages", amount(queued.messages)),
        ("OutgoingBytes", amount(queued.bytes)),
        ("OutgoingFDs", amount(queued.fds)),
        ("PeakOutgoingBytes", amount(peak_bytes)),
        ("PeakOutgoingFDs", amount(peak_fds)),
        ("org.diligence.SentMessages", Value::Uint64(counts.sent.messages)),
        ("org.diligence.SentBytes", Value::Uint64(counts.sent.bytes)),
        ("org.diligence.SentFDs", Value::Uint64(counts.sent.fds)),
        ("org.diligence.LaneSentMessages", Value::Uint64(counts.lanes.sent)),
        ("org.diligence.LaneSentBytes", Value::Uint64(counts.lanes.sent_bytes)),
        ("org.diligence.LaneReceivedMessages", Value::Uint64(counts.lanes.received)),
        ("org.diligence.LaneReceivedBytes", Value::Uint64(counts.lanes.received_bytes)),
        ("org.diligence.LostMessages", Value::Uint64(counts.lost)),
    ])
}

pub(super) fn match_rules(
    driver: &mut Driver<'_>,
    call: &Call<'_>,
    fx: &mut Effects,
) -> Result<(), RefusalReason> {
    let mut room = ARRAY_LEN_MAX;
    let mut rules = BTreeMap::<String, Vec<String>>::new();
    for peer in driver.router.registry.iter().filter(|peer| peer.is_active()) {
        rules.insert(peer.name().as_str().to_owned(), rules_of(driver.router, peer, &mut room)?);
    }
    driver.reply(call, &(rules,), fx)
}

/// Lists the rules of a connection, each as often as it was added. Subtracts their length from
/// `room` and fails if `room` is too small: a rule that was added many times takes more space in
/// the list than in memory.
fn rules_of(router: &Router, peer: &Peer, room: &mut usize) -> Result<Vec<String>, RefusalReason> {
    let mut texts = Vec::with_capacity(router.matching.counts_of(peer.id).current);
    for (count, rule) in router.matching.rules_of(peer.id) {
        let text = rule.to_string();
        let len = (text.len() + STRING_LEN_MIN).saturating_mul(count);
        *room = room.checked_sub(len).ok_or(RefusalReason::MatchRulesTooLong)?;
        texts.extend(core::iter::repeat_n(text, count));
    }
    Ok(texts)
}

/// Approximate size of an array element that is a string, without its text, in bytes.
const STRING_LEN_MIN: usize = 8;

fn count(number: usize) -> Value {
    amount(number as u64)
}

/// Converts a number to the type of the interface. A number that is too large becomes the maximum.
fn amount(number: u64) -> Value {
    Value::Uint32(u32::try_from(number).unwrap_or(u32::MAX))
}
