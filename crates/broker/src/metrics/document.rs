//! The metrics of the bus as OpenMetrics text. `docs/statistics.md` lists them.

use std::time::Duration;

use bus::{Bus, IncidentKind, MemberCounts, MemberUse};

use super::text::{MetricFamily, MetricKind, Samples, Text};

/// The current metrics of a bus, as a complete document.
pub(super) fn document(bus: &Bus) -> String {
    let mut text = Text::default();
    let version = env!("CARGO_PKG_VERSION");
    let (name, help) = ("diligence_bus_build", "The version of the bus.");
    let build = MetricFamily { name, kind: MetricKind::Info, unit: None, help };
    text.family(build).labeled(&[("version", version)], 1);
    totals(&mut text, bus);
    causes(&mut text, bus);
    gauges(&mut text, bus);
    members(&mut text, bus);
    text.finish()
}

fn totals(text: &mut Text, bus: &Bus) {
    let totals = bus.totals();
    let rows = [
        (
            "diligence_bus_accepted_connections",
            "connections",
            totals.connected,
            "Connections that were accepted.",
        ),
        (
            "diligence_bus_received_messages",
            "messages",
            totals.messages,
            "Messages received from connections.",
        ),
        ("diligence_bus_received_bytes", "bytes", totals.bytes, "Bytes of received messages."),
        (
            "diligence_bus_copied_bytes",
            "bytes",
            totals.copied_bytes,
            "Bytes that the bus copied in its memory to route messages.",
        ),
        (
            "diligence_bus_written_bytes",
            "bytes",
            totals.written_bytes,
            "Bytes that the bus has written to connections.",
        ),
        (
            "diligence_bus_validated_messages",
            "messages",
            totals.validated,
            "Messages whose bodies the bus has validated.",
        ),
        (
            "diligence_bus_delivered_messages",
            "messages",
            totals.deliveries,
            "Messages that were queued for connections.",
        ),
        (
            "diligence_bus_lane_messages",
            "messages",
            totals.lane_messages,
            "Messages that programs sent on lanes, as they say.",
        ),
        ("diligence_bus_lane_bytes", "bytes", totals.lane_bytes, "Bytes of the messages on lanes."),
    ];
    for (name, unit, value, help) in rows {
        counter(text, name, unit, help).sample(value);
    }
}

fn causes(text: &mut Text, bus: &Bus) {
    let rows = [
        (
            "diligence_bus_ended_connections",
            "connections",
            IncidentKind::Disconnected,
            "Ended connections, by cause; \"closed\" if the peer closed its connection.",
        ),
        (
            "diligence_bus_rejected_connections",
            "connections",
            IncidentKind::Rejected,
            "Connections rejected before or at Hello, by cause.",
        ),
        (
            "diligence_bus_delayed_connections",
            "connections",
            IncidentKind::Delayed,
            "Connections delayed before they were served, by limit.",
        ),
        (
            "diligence_bus_refused_messages",
            "messages",
            IncidentKind::Refused,
            "Messages that were refused with an error, by the limit or the error.",
        ),
        (
            "diligence_bus_withheld_messages",
            "messages",
            IncidentKind::Withheld,
            "Messages that the policy silently withheld from a connection, by cause.",
        ),
        (
            "diligence_bus_failed_starts",
            "starts",
            IncidentKind::StartFailed,
            "Services that did not start, by cause.",
        ),
        (
            "diligence_bus_faults",
            "faults",
            IncidentKind::Fault,
            "Failed system operations of the bus, by kind.",
        ),
        (
            "diligence_bus_lost_messages",
            "messages",
            IncidentKind::Lost,
            "Messages dropped because a queue was full or the kernel did not accept them, by cause.",
        ),
    ];
    for (name, unit, trouble, help) in rows {
        let mut samples = counter(text, name, unit, help);
        for (_, cause, count) in bus.causes().filter(|(kind, ..)| *kind == trouble) {
            samples.labeled(&[("cause", cause)], count);
        }
    }
}

fn gauges(text: &mut Text, bus: &Bus) {
    let now = bus.gauges();
    let rows = [
        (
            "diligence_bus_active_connections",
            "connections",
            now.connections,
            "Connections that have called Hello.",
        ),
        (
            "diligence_bus_incomplete_connections",
            "connections",
            now.incomplete,
            "Connections that have not called Hello.",
        ),
        ("diligence_bus_monitors", "monitors", now.monitors, "Connections that are monitors."),
        ("diligence_bus_traces", "traces", now.traces, "Traces that connections have requested."),
        (
            "diligence_bus_names",
            "names",
            now.names,
            "Unique names, and well-known names that connections own or wait for.",
        ),
        ("diligence_bus_match_rules", "rules", now.rules, "Match rules."),
        (
            "diligence_bus_pending_replies",
            "replies",
            now.pending_replies,
            "Pending replies: calls that have no reply yet.",
        ),
        (
            "diligence_bus_lanes",
            "lanes",
            now.lanes,
            "Sockets on which two programs exchange messages directly.",
        ),
        (
            "diligence_bus_queued_messages",
            "messages",
            now.queued_messages,
            "Messages in the queues of recipients.",
        ),
        (
            "diligence_bus_queued_bytes",
            "bytes",
            now.queued_bytes,
            "Bytes in the queues of recipients.",
        ),
        (
            "diligence_bus_losing_connections",
            "connections",
            now.losing,
            "Connections that are losing messages because they do not read.",
        ),
    ];
    for (name, unit, value, help) in rows {
        text.family(MetricFamily { name, kind: MetricKind::Gauge, unit: Some(unit), help })
            .sample(value);
    }
}

fn members(text: &mut Text, bus: &Bus) {
    let rows: [MemberRow; 5] = [
        (
            "diligence_bus_member_messages",
            "messages",
            |it| it.messages,
            "Calls and signals, by member.",
        ),
        (
            "diligence_bus_member_bytes",
            "bytes",
            |it| it.bytes,
            "Bytes of calls and signals, by member.",
        ),
        (
            "diligence_bus_member_delivered_messages",
            "messages",
            |it| it.deliveries,
            "Messages that were queued because of calls and signals, by member.",
        ),
        (
            "diligence_bus_member_returns",
            "returns",
            |it| it.returns,
            "Calls that were answered with a method return, by member.",
        ),
        (
            "diligence_bus_member_errors",
            "errors",
            |it| it.errors,
            "Calls that were answered with an error, by member.",
        ),
    ];
    for (name, unit, number, help) in rows {
        let mut samples = counter(text, name, unit, help);
        each_member(bus, |labels, counts| samples.labeled(labels, number(counts)));
    }
    let (name, help) = (
        "diligence_bus_member_reply_seconds",
        "Total time from calls to their replies, by member.",
    );
    let mut samples = counter(text, name, "seconds", help);
    each_member(bus, |labels, counts| {
        samples.labeled(labels, Duration::from_nanos(counts.waited).as_secs_f64());
    });
    let peaks: [MemberRow; 2] = [
        (
            "diligence_bus_member_largest_message_bytes",
            "bytes",
            |it| it.largest,
            "Bytes of the largest call or signal, by member.",
        ),
        (
            "diligence_bus_member_most_recipients",
            "recipients",
            |it| it.most_recipients,
            "Most connections, without monitors, that received the same call or signal, by member.",
        ),
    ];
    for (name, unit, number, help) in peaks {
        let family = MetricFamily { name, kind: MetricKind::Gauge, unit: Some(unit), help };
        let mut samples = text.family(family);
        each_member(bus, |labels, counts| samples.labeled(labels, number(counts)));
    }
}

/// A metric family with a sample per member: name, unit, value, help text.
type MemberRow = (&'static str, &'static str, fn(&MemberCounts) -> u64, &'static str);

/// Calls `each` for the first members that occurred, and once for all others together: the number
/// of time series of a monitoring system must not depend on what peers call.
fn each_member(bus: &Bus, mut each: impl FnMut(&[(&'static str, &str)], &MemberCounts)) {
    let mut others = bus.other_members();
    for (index, MemberUse { interface, member, counts }) in bus.members().enumerate() {
        if index < MEMBERS_MAX {
            each(&[("interface", interface), ("member", member)], &counts);
        } else {
            others += counts;
        }
    }
    if others != MemberCounts::default() {
        each(&[("interface", ""), ("member", "")], &others);
    }
}

fn counter<'t>(
    text: &'t mut Text,
    name: &'static str,
    unit: &'static str,
    help: &'static str,
) -> Samples<'t> {
    text.family(MetricFamily { name, kind: MetricKind::Counter, unit: Some(unit), help })
}

/// The maximum number of members with separate samples.
const MEMBERS_MAX: usize = 128;
