//! What one small call costs the bus: counts that do not depend on the machine's mood.
//!
//! Only for our own bus: the reference needs more, and that is why ours exists.

use diligence_conformance::{Bus, Flavour, Message, Peer, Program, Signal};

/// Enough that what attaching the tracer costs does not matter.
const ROUND_TRIPS: u32 = 500;

/// System calls for one round trip: wait, read, write for the call, and the same for the reply.
const SYSTEM_CALLS: u32 = 6;

/// Wake-ups for one round trip: one for the call, one for the reply.
const WAKE_UPS: u64 = 2;

#[test]
fn a_round_trip_costs_the_bus_three_system_calls_each_way() {
    if Flavour::under_test() == Flavour::Reference {
        return;
    }
    let mut bus = Bus::session();
    let (mut caller, mut callee) = (bus.peer(), bus.peer());
    let process = bus.process().id().to_string();
    let tracer = Program::named("strace", "strace").args(["-c", "-f", "-p", &process]);
    let mut tracer = tracer.start();
    tracer.wait_for("the tracer to attach", |_, stderr| stderr.contains("attached").then_some(()));
    (0..ROUND_TRIPS).for_each(|_| round_trip(&mut caller, &mut callee));
    tracer.signal(Signal::INT);
    let table = tracer.finish().stderr;
    let total = total_calls(&table).unwrap_or_else(|| panic!("no total in\n{table}"));
    // Attaching interrupts one call, which is then made again.
    let expected = ROUND_TRIPS * SYSTEM_CALLS;
    assert!(
        (expected..=expected + 4).contains(&total),
        "{total} system calls for {ROUND_TRIPS} round trips, {expected} expected\n{table}"
    );
}

#[test]
fn a_round_trip_wakes_the_bus_twice() {
    if Flavour::under_test() == Flavour::Reference {
        return;
    }
    let mut bus = Bus::session();
    let (mut caller, mut callee) = (bus.peer(), bus.peer());
    let process = bus.process().id();
    round_trip(&mut caller, &mut callee);
    let before = wake_ups(process);
    (0..ROUND_TRIPS).for_each(|_| round_trip(&mut caller, &mut callee));
    let woken = wake_ups(process) - before;
    let expected = u64::from(ROUND_TRIPS) * WAKE_UPS;
    // Less where the bus was still awake when the reply came; more only by what others cause.
    assert!(woken <= expected + 4, "{woken} wake-ups for {ROUND_TRIPS} round trips");
}

fn round_trip(caller: &mut Peer, callee: &mut Peer) {
    let serial = caller.send(Message::call(callee.name(), "/", "com.example.Cost", "Ping"));
    let call = callee.receive().expect("the call");
    let reply = callee.numbered(Message::reply(&call));
    callee.send(reply);
    let reply = caller.receive().expect("the reply");
    assert_eq!(reply.reply_serial(), Some(serial));
}

/// The number of calls in the last line of strace's table: `100.00 0.01 3 3006 total`.
fn total_calls(table: &str) -> Option<u32> {
    let line = table.lines().find(|line| line.trim_end().ends_with("total"))?;
    line.split_whitespace().nth(3)?.parse().ok()
}

/// How often a process has gone to sleep of its own will, and so was woken.
fn wake_ups(process: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).expect("its status");
    let line = status.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"));
    line.and_then(|number| number.trim().parse().ok()).expect("a count")
}
