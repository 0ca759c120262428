//! Repeats the start of a desktop on one bus: each time, every peer gets the same messages as the
//! first time, and as on dbus-daemon, and the bus keeps no memory of it.

use std::time::Instant;

use conformance::differential::start_reference;
use conformance::{BUS_NAME, BusUnderTest, PlainMessage};

use crate::form::TestDuration;
use crate::gauge::{Gauge, GaugeTotals, Rest};
use crate::latency::Latency;
use crate::recording::{Got, Replay, desktop_start};

/// The allowed increase of memory from the second to the last quarter, in KiB.
const ALLOWANCE: u64 = 256;

pub(crate) fn repeated_starts_of_a_desktop_get_the_same_messages() {
    let form = TestDuration::requested();
    let rounds = form.pick(10, 1000);
    let messages = desktop_start();
    let reference = start_reference(&conformance::TestConfig::session());
    let (theirs, _) = Replay::on(reference.address()).play(&messages);
    reference.stop();

    let mut bus = BusUnderTest::session();
    let gauge = Gauge::of(&mut bus);
    let mut requester = bus.peer();
    let rest = Rest::of(gauge, &mut requester);
    let (first, sent) = Replay::on(bus.address()).play(&messages);
    assert_same(&in_short(&first), &in_short(&theirs));
    rest.holds_no_more(&mut requester);
    let before = GaugeTotals::ask(&mut requester);
    let (mut times, mut memory, mut asked) = (Vec::new(), Vec::new(), 0);
    for _ in 0..rounds {
        let started = Instant::now();
        let (got, again) = Replay::on(bus.address()).play(&messages);
        times.push(started.elapsed());
        assert_same(&in_full(&got), &in_full(&first));
        assert_eq!(sent, again);
        rest.holds_no_more(&mut requester);
        memory.push(gauge.memory());
        asked += 1;
    }
    let after = GaugeTotals::ask(&mut requester);
    let came: usize = first.values().map(Vec::len).sum();
    assert_eq!(after.get("LostMessages") + after.get("WithheldMessages"), 0);
    let [second, last] = quarters(&memory);
    assert!(last <= second + ALLOWANCE, "{second} KiB in the second quarter, {last} in the last");
    let handled = after.get("Messages") - before.get("Messages");
    // The messages of the desktop, and the calls that check for freed resources: at least one per
    // round.
    let most = (sent * rounds) as u64 + 100 * asked;
    assert!((sent * rounds) as u64 + asked <= handled && handled < most, "{handled}");
    form.report(&format!(
        "desktop start: {rounds} times {} messages of {} programs, {came} got by them each time, as with \
         dbus-daemon; a start takes {}; memory {second} KiB in the second quarter, {last} in the last",
        messages.len(),
        first.len(),
        Latency::of(times),
    ));
    bus.stop();
}

/// The medians of the second and the last quarter.
pub(crate) fn quarters(samples: &[u64]) -> [u64; 2] {
    let quarter = samples.len().div_ceil(4);
    let median = |from: usize| {
        let mut part = samples[from..(from + quarter).min(samples.len())].to_vec();
        part.sort_unstable();
        part[part.len() / 2]
    };
    [median(quarter), median(samples.len() - quarter)]
}

/// Fails at the first difference.
fn assert_same(ours: &[(&str, Vec<String>)], expected: &[(&str, Vec<String>)]) {
    assert_eq!(ours.len(), expected.len());
    for ((name, ours), (_, expected)) in ours.iter().zip(expected) {
        let different = ours.iter().zip(expected).find(|(ours, expected)| ours != expected);
        assert_eq!(different, None, "{name} got something else");
        assert_eq!(ours.len(), expected.len(), "{name}");
    }
}

/// All messages that a peer got, without the serials of the bus.
fn in_full(got: &Got) -> Vec<(&str, Vec<String>)> {
    let lines = |messages: &[PlainMessage]| messages.iter().map(PlainMessage::compared).collect();
    got.iter().map(|(name, messages)| (name.as_str(), lines(messages))).collect()
}

/// Senders, recipients and members, without texts that may differ between two buses.
fn in_short(got: &Got) -> Vec<(&str, Vec<String>)> {
    let short = |message: &PlainMessage| {
        let (sender, member) = (message.sender(), message.member());
        let said = if sender == BUS_NAME { String::new() } else { format!("{:?}", message.body) };
        let (answers, error) = (message.reply_serial(), message.error_name());
        format!("{} {sender} {member} {answers:?} {error} {said}", message.kind)
    };
    let lines = |messages: &[PlainMessage]| messages.iter().map(short).collect();
    got.iter().map(|(name, messages)| (name.as_str(), lines(messages))).collect()
}
