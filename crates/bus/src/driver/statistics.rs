//! `org.diligence.Statistics1`: figures about a running bus, and about the causes of problems.
//! `docs/statistics.md` describes it.
//!
//! All replies are dictionaries, so that keys can be added. Times are microseconds before the
//! reply, or durations in nanoseconds.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::cmp::Reverse;

use wire::body::Value;
use wire::signature::{Signature, SignatureBuf, Type};

use super::call::{Call, Driver};
use crate::accounting::{Incident, IncidentKind, MemberCounts, MemberUse};
use crate::registry::Peer;
use crate::routing::Router;
use crate::types::{Effects, PeerSnapshot, RefusalReason, Time};

type Dict = BTreeMap<&'static str, Value>;

pub(super) fn totals(
    driver: &mut Driver<'_>,
    call: &Call<'_>,
    fx: &mut Effects,
) -> Result<(), RefusalReason> {
    let router = &*driver.router;
    let (totals, now) = (router.accounting.totals(), router.gauges());
    let dict = Dict::from([
        ("Uptime", Value::Uint64(router.accounting.uptime(router.now).as_micros() as u64)),
        ("Connected", totals.connected.into()),
        ("Disconnected", totals.disconnected.into()),
        ("Messages", totals.messages.into()),
        ("Bytes", totals.bytes.into()),
        ("CopiedBytes", totals.copied_bytes.into()),
        ("WrittenBytes", totals.written_bytes.into()),
        ("ValidatedMessages", totals.validated.into()),
        ("ValidatedBytes", totals.validated_bytes.into()),
        ("Deliveries", totals.deliveries.into()),
        ("LaneMessages", totals.lane_messages.into()),
        ("LaneBytes", totals.lane_bytes.into()),
        ("RefusedMessages", totals.refused.into()),
        ("WithheldMessages", totals.withheld.into()),
        ("LostMessages", totals.lost.into()),
        ("Connections", now.connections.into()),
        ("IncompleteConnections", now.incomplete.into()),
        ("Monitors", now.monitors.into()),
        ("Containers", (router.containers.iter().count() as u64).into()),
        ("Traces", now.traces.into()),
        ("Names", now.names.into()),
        ("MatchRules", now.rules.into()),
        ("PendingReplies", now.pending_replies.into()),
        ("Lanes", now.lanes.into()),
        ("LanesForbidden", Value::String(lanes_forbidden(router))),
        ("QueuedMessages", now.queued_messages.into()),
        ("QueuedBytes", now.queued_bytes.into()),
        ("LosingConnections", now.losing.into()),
        ("DisconnectCauses", causes(router, IncidentKind::Disconnected)),
        ("RejectedCauses", causes(router, IncidentKind::Rejected)),
        ("DelayCauses", causes(router, IncidentKind::Delayed)),
        ("RefusalCauses", causes(router, IncidentKind::Refused)),
        ("WithholdingCauses", causes(router, IncidentKind::Withheld)),
        ("LossCauses", causes(router, IncidentKind::Lost)),
        ("FailedStartCauses", causes(router, IncidentKind::StartFailed)),
        ("FaultCauses", causes(router, IncidentKind::Fault)),
    ]);
    driver.reply(call, &(dict,), fx)
}

pub(super) fn connections(
    driver: &mut Driver<'_>,
    call: &Call<'_>,
    fx: &mut Effects,
) -> Result<(), RefusalReason> {
    let (most,) = call.args::<(u32,)>()?;
    let mut peers: Vec<&Peer> =
        driver.router.registry.iter().filter(|peer| peer.is_registered()).collect();
    peers.sort_by_key(|peer| Reverse(peer.statistics.messages()));
    peers.truncate(room(most));
    let dicts: Vec<Dict> = peers.into_iter().map(|peer| of_peer(driver.router, peer)).collect();
    driver.reply(call, &(dicts,), fx)
}

pub(super) fn members(
    driver: &mut Driver<'_>,
    call: &Call<'_>,
    fx: &mut Effects,
) -> Result<(), RefusalReason> {
    let (most,) = call.args::<(u32,)>()?;
    let Router { accounting, now, .. } = &mut *driver.router;
    let counted_for = now.since(accounting.count_members(*now)).as_micros() as u64;
    let mut members: Vec<MemberUse<'_>> = accounting.members().collect();
    members.sort_by_key(|member| Reverse(member.counts.messages));
    members.truncate(room(most));
    let mut dicts: Vec<Dict> = members.into_iter().map(of_member).collect();
    if accounting.other_members() != MemberCounts::default() {
        dicts.push(of_counts(accounting.other_members()));
    }
    driver.reply(call, &(dicts, counted_for), fx)
}

pub(super) fn history(
    driver: &mut Driver<'_>,
    call: &Call<'_>,
    fx: &mut Effects,
) -> Result<(), RefusalReason> {
    driver.router.settle_history();
    let mut incidents: Vec<&Incident> = driver.router.accounting.incidents().collect();
    incidents.sort_by_key(|incident| Reverse(incident.last));
    let dicts: Vec<Dict> =
        incidents.into_iter().map(|it| of_incident(it, driver.router.now)).collect();
    driver.reply(call, &(dicts,), fx)
}

/// The maximum number of entries of a reply. 0 stands for all entries.
const fn room(most: u32) -> usize {
    if most == 0 { usize::MAX } else { most as usize }
}

/// Why no two connections may have a lane now; empty if they may.
fn lanes_forbidden(router: &Router) -> String {
    router.forbids_lanes().map(|refusal| refusal.to_string()).unwrap_or_default()
}

fn of_peer(router: &Router, peer: &Peer) -> Dict {
    let (counts, queued) = (&peer.statistics, peer.queue.amount());
    let (calls, owed) = router.calls.of_peer(peer.id);
    let partners = router.lanes.partners_of(peer.id);
    let partners = partners.map(|it| Value::from(router.registry[it].name().as_str()));
    let partners = Value::Array { element: element_of("as"), items: partners.collect() };
    let mut dict = router.registry.snapshot(peer.id).as_ref().map(of_snapshot).unwrap_or_default();
    dict.extend([
        ("Age", Value::Uint64(router.now.since(peer.since).as_micros() as u64)),
        ("Monitor", Value::Boolean(peer.is_monitor())),
        ("SentMessages", counts.sent.messages.into()),
        ("SentBytes", counts.sent.bytes.into()),
        ("SentFDs", counts.sent.fds.into()),
        ("ReceivedMessages", counts.received.messages.into()),
        ("ReceivedBytes", counts.received.bytes.into()),
        ("ReceivedFDs", counts.received.fds.into()),
        ("LanePartners", partners),
        ("LaneSentMessages", counts.lanes.sent.into()),
        ("LaneSentBytes", counts.lanes.sent_bytes.into()),
        ("LaneReceivedMessages", counts.lanes.received.into()),
        ("LaneReceivedBytes", counts.lanes.received_bytes.into()),
        ("QueuedMessages", queued.messages.into()),
        ("QueuedBytes", queued.bytes.into()),
        ("QueuedFDs", queued.fds.into()),
        ("PeakQueuedBytes", peer.queue.peaks().0.into()),
        ("LostMessages", counts.lost.into()),
        ("Losing", Value::Boolean(counts.losing.is_some())),
        ("WithheldMessages", counts.withheld.messages.into()),
        ("RefusedMessages", counts.refused.into()),
        ("MatchRules", (router.matching.counts_of(peer.id).current as u64).into()),
        ("PendingCalls", (calls as u64).into()),
        ("OwedReplies", (owed as u64).into()),
    ]);
    dict
}

fn of_member(member: MemberUse<'_>) -> Dict {
    let mut dict = of_counts(member.counts);
    dict.insert("Interface", member.interface.into());
    dict.insert("Member", member.member.into());
    dict
}

fn of_counts(counts: MemberCounts) -> Dict {
    Dict::from([
        ("Messages", Value::Uint64(counts.messages)),
        ("Bytes", counts.bytes.into()),
        ("Deliveries", counts.deliveries.into()),
        ("Returns", counts.returns.into()),
        ("Errors", counts.errors.into()),
        ("ReplyTime", counts.waited.into()),
        ("LongestReplyTime", counts.waited_most.into()),
        ("LargestMessage", counts.largest.into()),
        ("MostRecipients", counts.most_recipients.into()),
    ])
}

fn of_incident(incident: &Incident, now: Time) -> Dict {
    let ago = |time| Value::Uint64(now.since(time).as_micros() as u64);
    let mut dict = of_snapshot(&incident.peer);
    dict.extend([
        ("Kind", Value::from(incident.kind.as_str())),
        ("Cause", (&*incident.cause).into()),
        ("Text", Value::String(incident.reason.to_string())),
        ("Count", incident.count.into()),
        ("First", ago(incident.first)),
        ("Last", ago(incident.last)),
    ]);
    if let Some(reached) = incident.reached {
        dict.insert("Limit", reached.limit.as_str().into());
        dict.insert("LimitValue", reached.max.into());
        dict.insert("LimitUsage", reached.used.into());
    }
    dict
}

fn of_snapshot(peer: &PeerSnapshot) -> Dict {
    let text = |text: &Option<Box<str>>| text.as_deref().map(Value::from);
    let names = peer.names.iter().map(|name| Value::from(&**name)).collect();
    let container = peer.container.as_deref();
    let known = [
        ("UniqueName", text(&peer.unique_name)),
        ("Names", Some(Value::Array { element: element_of("as"), items: names })),
        ("ProcessID", peer.pid.map(Value::from)),
        ("UnixUserID", peer.uid.map(Value::from)),
        ("Program", text(&peer.process.comm)),
        ("Unit", text(&peer.process.unit)),
        ("ControlGroup", text(&peer.process.cgroup)),
        ("Container", container.map(|it| Value::from(&*it.id.path()))),
        ("ContainerType", container.map(|it| Value::from(&*it.kind))),
        ("ContainerName", container.map(|it| Value::from(&*it.name))),
    ];
    known.into_iter().filter_map(|(key, value)| Some((key, value?))).collect()
}

/// The number of occurrences of each cause of one kind of incident: `a{st}`.
fn causes(router: &Router, kind: IncidentKind) -> Value {
    let entries = router.accounting.causes().filter(|(other, ..)| *other == kind);
    let entry = |(_, cause, count): (_, &str, u64)| {
        Value::DictEntry(Box::new((cause.into(), count.into())))
    };
    Value::Array { element: element_of("a{st}"), items: entries.map(entry).collect() }
}

/// Returns the type of the elements of an array.
fn element_of(array: &str) -> SignatureBuf {
    match Signature::new(array).ok().and_then(Signature::single) {
        Some(Type::Array(element)) => element.into(),
        _ => unreachable!("{array} is the type of an array"),
    }
}
