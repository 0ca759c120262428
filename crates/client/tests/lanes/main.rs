//! Direct sockets between two connections of a Diligence bus.

#[path = "../runtimes/mod.rs"]
mod runtimes;
#[path = "../support/mod.rs"]
mod support;

mod causes;
mod event_loops;
mod hostile;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use diligence_client::wire::body::{UnixFd, Value};
use diligence_client::wire::message::{Builder, Flags};
use diligence_client::wire::names::{BusName, InterfaceName, MemberName, ObjectPath};
use diligence_client::{
    CallError, CallOptions, Connection, IncomingCall, LaneUse, NameFlags, Processed, StartedCall,
    Values,
};
use support::{BusProgram, PATIENCE, PrivateTestBus, TestService};

const NAME: &str = "org.example.Echo";

/// A service with a name, which answers each call with `answer`.
fn service(
    bus: &PrivateTestBus,
    lane_use: LaneUse,
    answer: impl Fn(&IncomingCall) -> ServiceStep + Send + 'static,
) -> TestService {
    bus.run_thread(move |connection, ready, stop| {
        connection.set_lane_use(lane_use);
        connection.request_name(NAME, NameFlags::NONE).expect("the name is free");
        ready.send(()).expect("the test waits");
        while !stop.load(Ordering::Relaxed) {
            if let Ok(Some(call)) = connection.next_request(Some(Duration::from_millis(20)))
                && answer(&call) == ServiceStep::End
            {
                return;
            }
        }
    })
}

/// What a service does after a call.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ServiceStep {
    Continue,
    /// The service disconnects, without an answer.
    End,
}

/// Returns the number in a call, or does what another method says.
fn echo(call: &IncomingCall) -> ServiceStep {
    match call.message().member() {
        Some("Echo") => {
            let (number,): (u64,) = call.read().expect("a number");
            call.reply(&(number,)).expect("the connection lives");
        }
        // Signals go to the bus, and the reply must not overtake it.
        Some("Announce") => {
            let connection = call.connection();
            let (number,): (u64,) = call.read().expect("a number");
            connection.emit("/", NAME, "Announced", &(number,)).expect("the connection lives");
            call.reply(&(number,)).expect("the connection lives");
        }
        Some("Leave") => return ServiceStep::End,
        // Any arguments, and no answer.
        Some("Note") => {}
        _ => {
            let file = call.message().descriptors()[0].try_clone().expect("a file");
            let mut text = String::new();
            File::from(file).read_to_string(&mut text).expect("the pipe has a writer that ends");
            let (reader, mut writer) = std::io::pipe().expect("a pipe");
            writer.write_all(text.to_uppercase().as_bytes()).expect("the pipe has room");
            let reply = call.reply_with_descriptors(&(UnixFd(0),), vec![reader.into()]);
            reply.expect("the connection lives");
        }
    }
    ServiceStep::Continue
}

fn start(connection: &Connection, method: &'static str, number: u64) -> StartedCall {
    let destination = BusName::new(NAME).expect("a name");
    let message = Builder::method_call(ObjectPath::ROOT, MemberName::literal(method))
        .interface(InterfaceName::literal(NAME))
        .destination(destination);
    let call = connection.start_call(&message, &(number,), CallOptions::default());
    call.expect("the connection lives")
}

fn call(connection: &Connection, method: &'static str, number: u64) {
    let reply = start(connection, method, number).wait().expect("a reply");
    assert_eq!(reply.read::<(u64,)>().expect("a number"), (number,));
}

/// A connection that has a lane to the service.
fn with_lane(bus: &PrivateTestBus) -> Connection {
    let connection = bus.connect();
    connection.set_lane_use(LaneUse::On);
    (0..100).for_each(|number| call(&connection, "Echo", number));
    assert_eq!(connection.lane_count(), 1);
    connection
}

/// The number of messages that the bus has routed so far.
fn routed(connection: &Connection) -> u64 {
    statistic(connection, "GetStats", "org.diligence.Messages")
}

/// A number of the statistics of the bus, or of this connection.
fn statistic(connection: &Connection, method: &str, key: &str) -> u64 {
    let own = [Value::from(connection.unique_name().as_str())];
    let arguments = if method == "GetConnectionStats" { &own[..] } else { &[] };
    let reply = connection
        .call(
            "org.freedesktop.DBus",
            "/org/freedesktop/DBus",
            "org.freedesktop.DBus.Debug.Stats",
            method,
            &Values(arguments),
        )
        .expect("statistics");
    let (stats,): (BTreeMap<&str, Value>,) = reply.read().expect("a dictionary");
    match stats[key] {
        Value::Uint64(number) => number,
        ref other => panic!("{other:?}"),
    }
}

#[test]
fn statistics_have_the_traffic_on_lanes() {
    let bus = PrivateTestBus::start_this(BusProgram::Diligence);
    let mut service = Some(service(&bus, LaneUse::On, echo));
    let connection = with_lane(&bus);
    let sent = || statistic(&connection, "GetConnectionStats", "org.diligence.LaneSentMessages");
    let total = || statistic(&connection, "GetStats", "org.diligence.LaneMessages");
    let bytes = || statistic(&connection, "GetStats", "org.diligence.LaneBytes");
    // The statistics are at most 100 milliseconds old.
    let settle = || thread::sleep(Duration::from_millis(150));
    settle();
    let (sent_before, total_before, bytes_before) = (sent(), total(), bytes());
    (0..1000).for_each(|number| call(&connection, "Echo", number));
    settle();
    assert_eq!(sent() - sent_before, 1000);
    assert_eq!(total() - total_before, 2000);
    assert!(bytes() - bytes_before > 2000 * 32, "{bytes_before}");
    // What a connection has sent stays in the totals after it left.
    start(&connection, "Leave", 0).wait().expect_err("it left");
    drop(service.take());
    settle();
    assert!(total() >= total_before + 2000);
}

#[test]
fn the_bus_sees_no_message_of_a_lane() {
    let bus = PrivateTestBus::start_this(BusProgram::Diligence);
    let _service = service(&bus, LaneUse::On, echo);
    let connection = with_lane(&bus);
    let before = routed(&connection);
    (0..1000).for_each(|number| call(&connection, "Echo", number));
    let after = routed(&connection);
    assert!(after - before < 20, "{before} to {after}");
}

#[test]
fn a_program_without_lanes_gets_none() {
    let bus = PrivateTestBus::start_this(BusProgram::Diligence);
    let _service = service(&bus, LaneUse::Off, echo);
    let connection = bus.connect();
    connection.set_lane_use(LaneUse::On);
    (0..300).for_each(|number| call(&connection, "Echo", number));
    assert_eq!(connection.lane_count(), 0);
}

#[test]
fn a_program_can_end_its_lanes_and_get_new_ones() {
    let bus = PrivateTestBus::start_this(BusProgram::Diligence);
    let _service = service(&bus, LaneUse::On, echo);
    let connection = with_lane(&bus);
    for _ in 0..3 {
        connection.set_lane_use(LaneUse::Off);
        assert_eq!(connection.lane_count(), 0);
        let before = routed(&connection);
        (0..300).for_each(|number| call(&connection, "Echo", number));
        assert!(routed(&connection) - before >= 600, "all calls and replies pass the bus");
        assert_eq!(connection.lane_count(), 0);
        connection.set_lane_use(LaneUse::On);
        (0..300).for_each(|number| call(&connection, "Echo", number));
        assert_eq!(connection.lane_count(), 1);
    }
}

#[test]
fn another_bus_refuses_and_everything_works() {
    let bus = PrivateTestBus::start_this(BusProgram::DbusDaemon);
    let _service = service(&bus, LaneUse::On, echo);
    let connection = bus.connect();
    connection.set_lane_use(LaneUse::On);
    (0..300).for_each(|number| call(&connection, "Echo", number));
    assert_eq!(connection.lane_count(), 0);
}

#[test]
fn a_reply_does_not_overtake_the_signal_before_it() {
    let bus = PrivateTestBus::start_this(BusProgram::Diligence);
    let _service = service(&bus, LaneUse::On, echo);
    let connection = with_lane(&bus);
    let signals = connection.subscribe_to("/", NAME, "Announced").expect("a valid rule");
    for number in 0..500 {
        call(&connection, "Announce", number);
        let signal = signals.poll().expect("nothing is lost").expect("it came before the reply");
        assert_eq!(signal.read::<(u64,)>().expect("a number"), (number,));
        call(&connection, "Echo", number);
    }
}

#[test]
fn descriptors_pass_beside_a_lane_in_both_directions() {
    let bus = PrivateTestBus::start_this(BusProgram::Diligence);
    let _service = service(&bus, LaneUse::On, echo);
    let connection = with_lane(&bus);
    for _ in 0..10 {
        let (reader, mut writer) = std::io::pipe().expect("a pipe");
        writer.write_all(b"text").expect("the pipe has room");
        drop(writer);
        let message = Builder::method_call(ObjectPath::ROOT, MemberName::literal("Shout"))
            .interface(InterfaceName::literal(NAME))
            .destination(BusName::new(NAME).expect("a name"));
        let descriptors: Vec<OwnedFd> = vec![reader.into()];
        let options = CallOptions { descriptors, ..CallOptions::default() };
        let shout = connection.start_call(&message, &(UnixFd(0),), options);
        let reply = shout.expect("the connection lives").wait().expect("a reply");
        let mut text = String::new();
        let file = reply.descriptors()[0].try_clone().expect("a file");
        File::from(file).read_to_string(&mut text).expect("the pipe has ended");
        assert_eq!(text, "TEXT");
        call(&connection, "Echo", 7);
    }
    assert_eq!(connection.lane_count(), 1);
}

#[test]
fn a_reply_arrives_on_a_lane_while_the_bus_reads_nothing() {
    let bus = PrivateTestBus::start_this(BusProgram::Diligence);
    let answer = |request: &IncomingCall| {
        if request.message().member() == Some("Slow") {
            thread::sleep(Duration::from_millis(500));
            let (number,): (u64,) = request.read().expect("a number");
            request.reply(&(number,)).expect("the connection lives");
            return ServiceStep::Continue;
        }
        echo(request)
    };
    let _service = service(&bus, LaneUse::On, answer);
    let connection = with_lane(&bus);
    let slow = start(&connection, "Slow", 9);
    bus.stop();
    connection.set_call_timeout(Some(Duration::from_millis(50)));
    let much = vec![0_u8; 4 * 1024 * 1024];
    connection.emit("/", NAME, "Much", &(&*much,)).expect("the connection lives");
    let begun = Instant::now();
    let reply = slow.wait().expect("a reply");
    assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
    assert_eq!(reply.read::<(u64,)>().expect("a number"), (9,));
    bus.resume();
}

#[test]
fn a_call_fails_when_the_callee_leaves() {
    let bus = PrivateTestBus::start_this(BusProgram::Diligence);
    let _service = service(&bus, LaneUse::On, echo);
    let connection = with_lane(&bus);
    let failed = start(&connection, "Leave", 7).wait().expect_err("no reply");
    let CallError::Remote { name, .. } = failed else { panic!("{failed}") };
    assert_eq!(name, "org.freedesktop.DBus.Error.NoReply");
    assert_eq!(connection.lane_count(), 0);
}

#[test]
fn a_connection_whose_bus_has_ended_has_no_lanes() {
    let bus = PrivateTestBus::start_this(BusProgram::Diligence);
    let _service = service(&bus, LaneUse::On, echo);
    let connection = with_lane(&bus);
    drop(bus);
    while connection.process(Some(PATIENCE)).is_ok() {}
    assert_eq!(connection.lane_count(), 0);
}

#[test]
fn a_call_on_a_lane_is_answered_after_the_lane_has_ended() {
    let bus = PrivateTestBus::start_this(BusProgram::Diligence);
    let slow = |call: &IncomingCall| {
        if call.message().member() == Some("Wait") {
            thread::sleep(Duration::from_millis(300));
            let (number,): (u64,) = call.read().expect("a number");
            call.reply(&(number,)).expect("the connection lives");
            return ServiceStep::Continue;
        }
        echo(call)
    };
    let _service = service(&bus, LaneUse::On, slow);
    let connection = with_lane(&bus);
    let waiting = start(&connection, "Wait", 7);
    thread::sleep(Duration::from_millis(100));
    let monitor = bus.connect();
    let become_monitor = monitor.call(
        "org.freedesktop.DBus",
        "/org/freedesktop/DBus",
        "org.freedesktop.DBus.Monitoring",
        "BecomeMonitor",
        &(Vec::<&str>::new(), 0_u32),
    );
    become_monitor.expect("a monitor");
    assert_eq!(waiting.wait().expect("a reply").read::<(u64,)>().expect("a number"), (7,));
    call(&connection, "Echo", 8);
    assert_eq!(connection.lane_count(), 0);
    // The monitor sees the call that was made after it had become one.
    let mut calls = 0;
    while let Ok(Some(message)) = monitor.next_message(Some(Duration::from_millis(200))) {
        calls += usize::from(message.member() == Some("Echo"));
    }
    assert_eq!(calls, 1);
}

#[test]
fn a_lane_survives_a_replacement_of_the_bus() {
    let bus = PrivateTestBus::start_this(BusProgram::Diligence);
    let _service = service(&bus, LaneUse::On, echo);
    let connection = with_lane(&bus);
    for number in 0..3 {
        let replaced = connection.call(
            "org.freedesktop.DBus",
            "/org/freedesktop/DBus",
            "org.diligence.Daemon1",
            "Reexecute",
            &(),
        );
        replaced.expect("the bus continues in its own program");
        (0..100).for_each(|number| call(&connection, "Echo", number));
        call(&connection, "Announce", number);
        assert_eq!(connection.lane_count(), 1);
    }
    let before = routed(&connection);
    (0..1000).for_each(|number| call(&connection, "Echo", number));
    assert!(routed(&connection) - before < 20, "calls travel on the lane");
}

#[test]
fn many_messages_on_a_lane_stay_before_a_later_one_on_another() {
    let bus = PrivateTestBus::start_this(BusProgram::Diligence);
    let order = Arc::new(Mutex::new(Vec::new()));
    let numbers = Arc::clone(&order);
    let record = move |call: &IncomingCall| match call.message().member() {
        Some("Wait") => {
            thread::sleep(Duration::from_millis(200));
            ServiceStep::Continue
        }
        Some("Record") => {
            let (number,): (u64,) = call.read().expect("a number");
            numbers.lock().expect("no panic").push(number);
            ServiceStep::Continue
        }
        _ => echo(call),
    };
    let _service = service(&bus, LaneUse::On, record);
    let connections = [(); 2].map(|()| with_lane(&bus));
    send(&connections[0], "Wait", 0);
    thread::sleep(Duration::from_millis(50));
    (0..100).for_each(|number| send(&connections[0], "Record", number));
    send(&connections[1], "Record", 100);
    send(&connections[0], "Record", 101);
    connections.iter().for_each(|connection| call(connection, "Echo", 1));
    assert_eq!(*order.lock().expect("no panic"), Vec::from_iter(0..=101));
}

/// Sends a call that expects no reply.
fn send(connection: &Connection, method: &'static str, number: u64) {
    let message = Builder::method_call(ObjectPath::ROOT, MemberName::literal(method))
        .interface(InterfaceName::literal(NAME))
        .destination(BusName::new(NAME).expect("a name"))
        .flags(Flags::NO_REPLY_EXPECTED);
    connection.send(&message, &(number,), Vec::new()).expect("the connection lives");
    connection.flush().expect("the connection lives");
}

#[test]
fn a_flood_on_a_lane_does_not_block_the_message_of_the_bus_before_it() {
    let bus = PrivateTestBus::start_this(BusProgram::Diligence);
    let slow = |call: &IncomingCall| {
        if call.message().member() == Some("Wait") {
            thread::sleep(Duration::from_millis(300));
            return ServiceStep::Continue;
        }
        echo(call)
    };
    let _service = service(&bus, LaneUse::On, slow);
    let connections = [(); 3].map(|()| with_lane(&bus));
    let other = bus.connect();
    send(&connections[0], "Wait", 7);
    thread::sleep(Duration::from_millis(50));
    let before = start(&other, "Echo", 1);
    thread::sleep(Duration::from_millis(50));
    for connection in &connections {
        (0..400).for_each(|_| send(connection, "Echo", 7));
    }
    for connection in &connections {
        call(connection, "Echo", 2);
        assert_eq!(connection.lane_count(), 1);
    }
    before.wait().expect("a reply");
}

#[test]
fn calls_of_others_are_served_while_a_lane_is_busy() {
    let bus = PrivateTestBus::start_this(BusProgram::Diligence);
    let _service = service(&bus, LaneUse::On, echo);
    let connection = with_lane(&bus);
    let other = bus.connect();
    for number in 0..100 {
        let own = start(&connection, "Echo", number);
        call(&other, "Echo", number);
        assert_eq!(own.wait().expect("a reply").read::<(u64,)>().expect("a number"), (number,));
    }
    assert_eq!(connection.process(Some(Duration::ZERO)).expect("it lives"), Processed::Nothing);
}
