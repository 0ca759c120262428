//! Traces: the ring content that readers get while real connections exchange messages.

#[path = "../daemon/mod.rs"]
mod daemon;
#[path = "../peer/mod.rs"]
mod peer;
mod reader;
mod stage;

use std::collections::BTreeMap;
use std::io::Read;
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use capture::Capture;
use capture::record::Fact;
use peer::BrokerPeer;
use reader::{SeenRecord, TraceReader};
use stage::{DRIVER, ServiceFolder, TRACE, TracedBus, rules};
use trace::{Entry, Follower, Step};
use wire::body::Value;

const LATE: &str = "com.example.Late";

#[test]
fn timestamps_are_in_order_and_recipients_match_the_rules() {
    let bus = TracedBus::start("stamps", |_| {});
    let mut listeners: Vec<_> = (0..5).map(|_| bus.connect()).collect();
    for listener in &mut listeners[..3] {
        listener.call_bus(DRIVER, "AddMatch", &("member='Wanted'",));
    }
    let (mut tracer, mut sender) = (bus.connect(), bus.connect());
    let mut reader = TraceReader::new(&tracer.start_trace(&[]));
    sender.emit("Wanted");
    let wanted = reader.wait_for("Wanted");
    let mut expected: Vec<u64> = listeners[..3].iter().map(BrokerPeer::number).collect();
    expected.sort_unstable();
    let mut recipients: Vec<u64> = wanted.copies.iter().map(|copy| copy.recipient).collect();
    recipients.sort_unstable();
    assert_eq!(recipients, expected);
    for copy in &wanted.copies {
        let written = copy.written_after.expect("it has left");
        assert!(wanted.routed_after <= written, "{wanted:?}");
        assert!(written < Duration::from_secs(2), "{wanted:?}");
        assert_eq!(copy.rules, 1, "by a rule");
    }
    // It is a call from one peer, and its reply goes to the other.
    let to = listeners[4].name.clone();
    sender.call(&to, "Ask");
    let call = reader.wait_for("Ask");
    assert_eq!(call.copies.len(), 1);
    assert_eq!((call.copies[0].recipient, call.copies[0].rules), (listeners[4].number(), 0));
    assert_eq!(call.sender, sender.name);
}

#[test]
fn the_stages_of_routing_follow_each_other() {
    if !sys::cycles::are_trusted() {
        return eprintln!("left out: the kernel does not keep time by the cycle counter");
    }
    let bus = TracedBus::start("stages", |_| {});
    let mut listeners: Vec<_> = (0..10).map(|_| bus.connect()).collect();
    for listener in &mut listeners {
        listener.call_bus(DRIVER, "AddMatch", &("interface='com.example.Trace'",));
    }
    let (mut tracer, mut sender) = (bus.connect(), bus.connect());
    let mut reader = TraceReader::new(&tracer.start_trace(&[]));
    // The bus measures the rate of the cycle counter for some time before it uses the counter.
    // How far it has come is not observable.
    std::thread::sleep(Duration::from_millis(50));
    sender.call(DRIVER, "GetId");
    std::thread::sleep(Duration::from_millis(50));
    for (member, size) in [("Small", 200), ("Large", 17_000), ("Small", 200), ("Large", 17_000)] {
        let before = sys::clock::monotonic();
        sender.emit_with(member, &("x".repeat(size),));
        let signal = reader.wait_for(member);
        let after = sys::clock::monotonic();
        let at = Duration::from_nanos(signal.at.0 as u64);
        assert_eq!(signal.copies.len(), listeners.len());
        let stages = signal.stages.unwrap_or_else(|| panic!("not measured: {signal:?}"));
        let (matching, took) = stages.matching().expect("match rules were searched");
        let written: Vec<_> = signal.copies.iter().filter_map(|copy| copy.written_after).collect();
        let last = written.iter().max().expect("ten copies");
        let order = [
            before,
            at,
            at + stages.read_after(),
            at + stages.begun_after(),
            at + matching,
            at + matching + took,
            at + signal.routed_after,
            at + *written.iter().min().expect("ten copies"),
            at + *last,
            after,
        ];
        // The cycle counter and the kernel's clock may differ slightly.
        let is_sorted = order.windows(2).all(|pair| pair[0] <= pair[1] + Duration::from_micros(1));
        assert!(is_sorted && took > Duration::ZERO, "{order:?} {signal:?}");
        assert!(written.iter().collect::<std::collections::HashSet<_>>().len() > 5, "{signal:?}");
        assert!(signal.copies.iter().all(|copy| copy.begun_after == copy.written_after));
    }
    // Match rules do not affect the recipient of a call.
    let to = listeners[0].name.clone();
    sender.call(&to, "Ask");
    let stages = reader.wait_for("Ask").stages.expect("it is measured");
    assert_eq!(stages.matching(), None);
    // Signals of one write are routed one after the other.
    sender.emit_together(&["First", "Second"]);
    let (first, second) = (reader.wait_for("First"), reader.wait_for("Second"));
    let end = first.at.0 as u64 + first.routed_after.as_nanos() as u64;
    let begun = second.stages.expect("it is measured").begun_after();
    assert!(second.at == first.at, "{first:?} {second:?}");
    assert!(second.at.0 as u64 + begun.as_nanos() as u64 >= end, "{first:?} {second:?}");
}

#[test]
fn messages_without_recipients_are_traced() {
    let bus = TracedBus::start("nobody", |_| {});
    let (mut tracer, mut sender) = (bus.connect(), bus.connect());
    let mut reader = TraceReader::new(&tracer.start_trace(&[]));
    sender.emit("Unheard");
    assert_eq!(reader.wait_for("Unheard").copies, []);
    sender.call("com.example.Absent", "Refused");
    let refused = reader.wait_for("Refused");
    assert_eq!((refused.copies.len(), refused.sender), (0, sender.name.clone()));
    let error = reader.wait_for("org.freedesktop.DBus.Error.ServiceUnknown");
    assert_eq!(error.sender, DRIVER);
    assert_eq!(error.copies[0].recipient, sender.number());
    sender.call(DRIVER, "GetId");
    assert_eq!(reader.wait_for("GetId").copies, []);
    sender.call("", "Ping");
    assert_eq!(reader.wait_for("Ping").sender, sender.name);
}

#[test]
fn connections_and_owners_are_traced() {
    let bus = TracedBus::start("comes", |_| {});
    let mut owner = bus.connect();
    owner.call_bus(DRIVER, "RequestName", &("com.example.Owned", 0_u32));
    let mut tracer = bus.connect();
    let mut reader = TraceReader::new(&tracer.start_trace(&["member='Nothing'"]));
    let late = bus.connect();
    let late_name = late.name.clone();
    drop(late);
    reader.wait_until(|facts| {
        facts.iter().any(|fact| matches!(fact, Fact::Left { unique, .. } if *unique == late_name))
    });
    let pid = Some(std::process::id());
    let of = |name: &str| {
        let is_its = |fact: &&Fact| matches!(fact, Fact::Peer { unique, .. } if unique == name);
        reader.facts.iter().find(is_its)
    };
    for name in [&owner.name, &late_name, &tracer.name] {
        let Some(Fact::Peer { process: Some(process), .. }) = of(name) else { panic!("{name}") };
        assert_eq!(process.pid, pid);
    }
    let owns = Fact::Owner {
        name: "com.example.Owned".to_owned(),
        unique: Some(owner.name.clone()),
        since: None,
    };
    assert!(reader.facts.contains(&owns), "{:?}", reader.facts);
}

#[test]
fn programs_are_traced_on_request() {
    let bus = TracedBus::start("programs", |_| {});
    let (mut tracer, mut other) = (bus.connect(), bus.connect());
    let programs = [("Programs", Value::Boolean(true))];
    let mut reader = TraceReader::new(&tracer.start_trace_with(programs.into()));
    let mut without = TraceReader::new(&other.start_trace(&[]));
    let late = bus.connect();
    let is_known = |fact: &Fact| match fact {
        Fact::Peer { unique, process: Some(process) } => {
            *unique == late.name && process.comm.is_some() && !process.command.is_empty()
        }
        _ => false,
    };
    reader.wait_until(|facts| facts.iter().any(is_known));
    let is_there = |fact: &Fact| matches!(fact, Fact::Peer { unique, .. } if *unique == late.name);
    without.wait_until(|facts| facts.iter().any(is_there));
    assert!(!without.facts.iter().any(is_known), "{:?}", without.facts);
    let refused = bus.connect().try_trace(vec![("Programs", Value::Uint32(1))]);
    assert_eq!(
        refused.expect_err("a number is not a boolean"),
        "org.freedesktop.DBus.Error.InvalidArgs"
    );
}

#[test]
fn filters_of_traces_match_like_those_of_monitors() {
    let bus = TracedBus::start("filters", |_| {});
    let (mut tracer, mut sender, mut owner) = (bus.connect(), bus.connect(), bus.connect());
    owner.call_bus(DRIVER, "RequestName", &("com.example.Owned", 0_u32));
    let rules = ["member='Wanted'", "destination='com.example.Owned'"];
    let mut reader = TraceReader::new(&tracer.start_trace(&rules));
    sender.emit("Unwanted");
    sender.call("com.example.Absent", "Unwanted");
    let to = owner.name.clone();
    sender.call(&to, "ByName");
    sender.emit("Wanted");
    reader.wait_for("Wanted");
    let members: Vec<_> = reader.seen.iter().map(|seen| seen.member.as_str()).collect();
    assert_eq!(members, ["ByName", "Wanted"]);
}

#[test]
fn traces_keep_only_the_requested_number_of_bytes() {
    let bus = TracedBus::start("kept", |_| {});
    let (mut tracer, mut sender) = (bus.connect(), bus.connect());
    let options = vec![("Kept", Value::Uint32(0))];
    let mut reader = TraceReader::new(&tracer.start_trace_with(options));
    sender.emit("Anything");
    let seen = reader.wait_for_one();
    assert_eq!((seen.member.as_str(), seen.sender.as_str()), ("", ""));
    assert!(seen.len > 64, "its length is known");
}

#[test]
fn a_stopped_reader_delays_no_peer_and_learns_how_many_messages_it_missed() {
    let bus = TracedBus::start("overrun", |_| {});
    let (mut tracer, mut sender) = (bus.connect(), bus.connect());
    let options = vec![("Size", Value::Uint64(65_536))];
    let ring = tracer.start_trace_with(options);
    let mut follower = Follower::new(ring.as_fd()).expect("a ring");
    let count = 5000;
    (0..count).for_each(|_| sender.emit("Flood"));
    sender.call_bus(DRIVER, "GetId", &());
    let (mut missed, mut read) = (0, 0);
    loop {
        match follower.step() {
            Step::Missed(number) => missed += number.messages,
            Step::Record(record) => read += u32::from(matches!(record.entry, Entry::Message(_))),
            Step::Nothing => break,
            Step::Stopped => panic!("the trace is on"),
        }
    }
    assert!(missed > 1000 && read > 100, "missed {missed}, read {read}");
    // Besides the signals, each peer has called Hello and made at most two calls, with replies.
    assert!((count..count + 20).contains(&(missed + read)), "missed {missed}, read {read}");
}

#[test]
fn a_trace_ends_when_it_is_stopped_or_its_connection_ends() {
    let bus = TracedBus::start("ends", |_| {});
    let mut tracer = bus.connect();
    let first = TraceReader::new(&tracer.start_trace(&[]));
    let again = tracer.try_trace(vec![]).expect_err("one is enough");
    assert_eq!(again, "org.freedesktop.DBus.Error.Failed");
    tracer.call_bus(TRACE, "Stop", &());
    first.wait_for_end();
    let second = TraceReader::new(&tracer.start_trace(&[]));
    drop(tracer);
    second.wait_for_end();
}

#[test]
fn memory_for_traces_is_limited() {
    let bus = TracedBus::start("limits", |config| {
        config.configuration.traces.max_traces = 2;
        config.configuration.traces.max_trace_bytes = 1 << 20;
    });
    let size = |bytes: u64| vec![("Size", Value::Uint64(bytes))];
    let (mut a, mut b, mut c) = (bus.connect(), bus.connect(), bus.connect());
    let limit = "org.freedesktop.DBus.Error.LimitsExceeded";
    assert_eq!(a.try_trace(size(2 << 20)).expect_err("too large"), limit);
    a.try_trace(size(1 << 19)).expect("there is room");
    b.try_trace(size(1 << 19)).expect("there is room");
    assert_eq!(c.try_trace(size(0)).expect_err("too many"), limit);
    drop(a);
    // The bus has processed the disconnect when the name is gone.
    let deadline = Instant::now() + Duration::from_secs(30);
    while c.try_trace(size(0)).is_err() {
        assert!(Instant::now() < deadline, "a disconnect does not make room for a trace");
        std::thread::sleep(Duration::from_millis(5));
    }
    let wrong = vec![("Color", Value::Uint32(7))];
    let invalid = "org.freedesktop.DBus.Error.InvalidArgs";
    assert_eq!(bus.connect().try_trace(wrong).expect_err("no such option"), invalid);
}

#[test]
fn messages_held_for_activation_are_traced_when_delivered() {
    let services = ServiceFolder::new("late", &[(LATE, "/bin/sleep 5")]);
    let bus = TracedBus::start_with("late", services.loaded());
    let (mut tracer, mut sender, mut owner) = (bus.connect(), bus.connect(), bus.connect());
    let mut reader = TraceReader::new(&tracer.start_trace(&[]));
    sender.call(LATE, "Waiting");
    let starting = Fact::Starting { name: LATE.to_owned(), by: Some(sender.name.clone()) };
    reader.wait_until(|facts| facts.contains(&starting));
    // The trace must show at least this time as the time that the message was held.
    let while_it_starts = Duration::from_millis(30);
    std::thread::sleep(while_it_starts);
    let is_there = |seen: &SeenRecord| seen.member == "Waiting";
    assert!(!reader.seen.iter().any(is_there), "nobody has got it yet");
    owner.call_bus(DRIVER, "RequestName", &(LATE, 0_u32));
    let waited = reader.wait_for("Waiting");
    assert!(waited.routed_after >= while_it_starts, "it came before: {waited:?}");
    assert_eq!((waited.copies.len(), waited.copies[0].recipient), (1, owner.number()));
    assert_eq!((waited.copies[0].rules, &waited.sender), (0, &sender.name));
    let started = Fact::Started { name: LATE.to_owned(), failure: None };
    reader.wait_until(|facts| facts.contains(&started));
}

#[test]
fn failed_activations_are_traced_with_their_reason() {
    let services = ServiceFolder::new("never", &[(LATE, "/bin/false")]);
    let bus = TracedBus::start_with("never", services.loaded());
    let (mut tracer, mut sender) = (bus.connect(), bus.connect());
    let mut reader = TraceReader::new(&tracer.start_trace(&[]));
    sender.call(LATE, "InVain");
    let waited = reader.wait_for("InVain");
    assert_eq!((waited.copies.len(), &waited.sender), (0, &sender.name));
    let is_why = |fact: &Fact| matches!(fact, Fact::Started { failure: Some(_), .. });
    reader.wait_until(|facts| facts.iter().any(is_why));
    let error = reader.wait_for("org.freedesktop.DBus.Error.Spawn.ChildExited");
    assert_eq!(error.copies[0].recipient, sender.number());
}

#[test]
fn messages_dropped_for_full_queues_are_traced() {
    let bus = TracedBus::start("dropped", |config| {
        config.configuration.limits.max_outgoing_bytes = 64 << 10;
    });
    let (mut tracer, mut sender, mut sleeper) = (bus.connect(), bus.connect(), bus.connect());
    sleeper.call_bus(DRIVER, "AddMatch", &("member='Flood'",));
    // The ring of this reader is large enough for all messages.
    let mut reader = TraceReader::new(&tracer.start_trace_with(vec![("Kept", Value::Uint32(0))]));
    let large = vec![0_u8; 16 << 10];
    (0..100).for_each(|_| sender.emit_with("Flood", &(large.as_slice(),)));
    let is_dropped = |fact: &Fact| match fact {
        Fact::Dropped { recipient, why, count } => {
            *recipient == Some(sleeper.name.clone()) && why == "it does not read" && *count > 0
        }
        _ => false,
    };
    reader.wait_until(|facts| facts.iter().any(is_dropped));
}

#[test]
fn several_readers_see_the_same_messages_and_may_disconnect() {
    let bus = TracedBus::start("several", |_| {});
    let [mut all, mut by_rule, mut stamps, mut gone, mut sender] =
        std::array::from_fn(|_| bus.connect());
    let mut readers = [
        TraceReader::new(&all.start_trace(&[])),
        TraceReader::new(&by_rule.start_trace(&["member='Wanted'"])),
    ];
    let mut without_bytes = TraceReader::new(
        &stamps.start_trace_with(vec![("Kept", Value::Uint32(0)), rules(&["member='Wanted'"])]),
    );
    let ended = TraceReader::new(&gone.start_trace(&[]));
    let to = by_rule.name.clone();
    sender.emit("Unwanted");
    sender.call(&to, "Wanted");
    let [whole, filtered] = readers.each_mut().map(|reader| reader.wait_for("Wanted"));
    let bare = without_bytes.wait_for_one();
    assert_eq!(whole, filtered);
    assert!(readers[1].seen.iter().all(|seen| seen.member == "Wanted"));
    assert_eq!((&bare.copies, bare.routed_after), (&whole.copies, whole.routed_after));

    let name = gone.name.clone();
    drop(gone);
    ended.wait_for_end();
    let is_gone = |fact: &Fact| matches!(fact, Fact::Left { unique, .. } if *unique == name);
    readers[0].wait_until(|facts| facts.iter().any(is_gone));
    sender.call(&to, "Wanted");
    let [whole, filtered] = readers.each_mut().map(|reader| reader.wait_for("Wanted"));
    assert_eq!(whole, filtered);
}

#[test]
fn present_and_recently_closed_participants_are_kept() {
    let bus = bus_that_records("participants", 65_536);
    // More connections than the initial ring can hold.
    let staying: Vec<_> = (0..300).map(|_| bus.connect()).collect();
    let left: Vec<_> = (0..2500).map(|_| bus.connect().name).collect();
    let capture = dumped(&bus, &mut bus.connect());
    let known: BTreeMap<_, _> = capture
        .directory()
        .peers()
        .filter_map(|(_, peer)| {
            let name = capture.strings().get(peer.unique).to_owned();
            Some((name, peer.process.as_ref()?.command.len()))
        })
        .collect();
    let words = std::env::args().len();
    let is_known = |name: &String| known.get(name) == Some(&words);
    assert!(staying.iter().all(|peer| is_known(&peer.name)));
    assert!(left[2200..].iter().all(is_known), "{}", left.iter().filter(|it| is_known(it)).count());
    assert!(!left[..500].iter().any(is_known), "the memory has an end");
    assert_eq!(capture.damage().len(), 0);
}

/// Starts a bus with a flight recorder of this size.
fn bus_that_records(name: &str, len: u64) -> TracedBus {
    TracedBus::start(name, |config| {
        config.document.own.flight_recorder = Some(len);
        config.configuration.flight_recorder = bus::FlightRecorder::On;
    })
}

/// The content of the flight recorder as a recording.
fn dumped(bus: &TracedBus, reader: &mut BrokerPeer) -> Capture {
    let rings = reader.rings_of("Dump", &()).expect("there is one");
    assert_eq!(rings.len(), 2);
    let mut bytes = Vec::new();
    for ring in rings {
        std::fs::File::from(ring).read_to_end(&mut bytes).expect("memory");
    }
    let path = bus.path.with_extension("trace");
    std::fs::write(&path, bytes).expect("a file");
    let capture = Capture::open(&path).expect("a recording");
    std::fs::remove_file(&path).expect("it is there");
    capture
}

/// Like [`dumped`], once the bus has looked up the programs of its connections.
fn dumped_with_commands(bus: &TracedBus, reader: &mut BrokerPeer) -> Capture {
    let deadline = Instant::now() + Duration::from_secs(30);
    loop {
        let capture = dumped(bus, reader);
        let peers = || capture.directory().peers().map(|(_, peer)| peer);
        if peers().flat_map(|peer| &peer.process).all(|process| !process.command.is_empty()) {
            return capture;
        }
        assert!(Instant::now() < deadline, "the bus does not look up programs");
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn the_flight_recorder_is_handed_out_as_a_recording() {
    let bus = bus_that_records("flight", 1 << 20);
    let (mut reader, mut sender) = (bus.connect(), bus.connect());
    sender.emit("Early");
    sender.call_bus(DRIVER, "RequestName", &("com.example.Kept", 0_u32));
    sender.call_bus(DRIVER, "RequestName", &("com.example.Released", 0_u32));
    sender.call_bus(DRIVER, "ReleaseName", &("com.example.Released",));
    let capture = dumped_with_commands(&bus, &mut reader);
    assert!(capture.messages().any(|message| message.member() == "Early"));
    assert!(capture.messages().all(|message| message.deliveries().is_some()));
    assert_eq!(capture.gaps().len() + capture.damage().len(), 0);
    let peers = || capture.directory().peers().map(|(_, peer)| peer);
    let find = |unique: &str| peers().find(|peer| capture.strings().get(peer.unique) == unique);
    let sender = find(&sender.name).expect("it is known");
    let names: Vec<_> = sender.names.iter().map(|name| capture.strings().get(*name)).collect();
    assert_eq!(names, ["com.example.Kept", "com.example.Released"]);
    for unique in [&reader.name, DRIVER] {
        let process = find(unique).and_then(|peer| peer.process.clone()).expect("it is known");
        let words: Vec<_> = std::env::args().collect();
        assert_eq!((process.pid, process.command), (Some(std::process::id()), words), "{unique}");
        let program = std::env::current_exe().expect("it runs");
        assert_eq!(process.exe.as_deref(), program.to_str(), "{unique}");
        assert_eq!(process.uid, sender.process.as_ref().and_then(|process| process.uid));
        let started = process.started.expect("it is known");
        let age = capture.messages().next().expect("there is one").at().0 - started.0;
        assert!((0..600_000_000_000).contains(&age), "{unique}: {age} ns");
    }

    let without = TracedBus::start("without", |_| {});
    let failed = "org.freedesktop.DBus.Error.Failed";
    assert_eq!(without.connect().ring_of("Dump", &()).expect_err("there is none"), failed);
}
