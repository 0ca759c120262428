//! Calls over a real bus: results, errors, time limits, and the end of the connection.

mod support;

use std::collections::BTreeMap;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use diligence_client::wire::body::{ReadError, Value};
use diligence_client::wire::message::Builder;
use diligence_client::wire::names::{BusName, MemberName, ObjectPath};
use diligence_client::{
    CallError, CallOptions, Connection, Ended, Flushed, NameFlags, NameKind, Processed,
    ReleaseReply, RequestReply, SubscribeError, Timeout, error_name,
};
use support::PrivateTestBus;

const BUS: &str = "org.freedesktop.DBus";
const BUS_PATH: &str = "/org/freedesktop/DBus";

#[test]
fn connections_know_their_unique_name_and_server_guid() {
    let bus = PrivateTestBus::start();
    let connection = bus.connect();
    let name = connection.unique_name();
    assert!(name.is_unique());
    let (owner,): (String,) =
        connection.call(BUS, BUS_PATH, BUS, "GetNameOwner", &(name,)).unwrap().read().unwrap();
    assert_eq!(name, owner.as_str());
    let guid = connection.server_guid().expect("the bus sends its GUID");
    assert!(bus.address.contains(&format!("guid={guid}")), "{}", bus.address);
    assert_eq!(connection.ended(), None);
}

#[test]
fn call_errors_distinguish_remote_errors_names_and_types() {
    let bus = PrivateTestBus::start();
    let connection = bus.connect();
    let proxy = connection.proxy(BUS, BUS_PATH, BUS).unwrap();

    let error = proxy.call("GetNameOwner", &("org.example.Nobody",)).unwrap_err();
    assert_eq!(error.remote_name(), Some(error_name::NAME_HAS_NO_OWNER.as_str()));
    assert!(error.to_string().contains("org.example.Nobody"), "{error}");

    let error = connection.call("bus", BUS_PATH, BUS, "GetId", &()).unwrap_err();
    let CallError::Name(error) = error else { panic!("{error}") };
    assert_eq!((error.kind, &*error.text), (NameKind::Bus, "bus"));

    let reply = proxy.call("GetId", &()).unwrap();
    let Err(ReadError::Signature { expected, found }) = reply.read::<(u32,)>() else { panic!() };
    assert_eq!((expected.as_str(), found.as_str()), ("u", "s"));
}

#[test]
fn several_calls_can_be_pending_at_once() {
    let bus = PrivateTestBus::start();
    let connection = bus.connect();
    let proxy = connection.proxy(BUS, BUS_PATH, BUS).unwrap();
    let own = connection.unique_name();
    let mut calls = Vec::new();
    for _ in 0..500 {
        calls.push(proxy.start_call("GetNameOwner", &(own,), CallOptions::default()).unwrap());
    }
    calls.reverse();
    calls.truncate(400); // dropping the others abandons them
    for call in calls {
        assert_eq!(call.wait().unwrap().read::<(BusName<'_>,)>().unwrap(), (own,));
    }
}

#[test]
fn a_started_call_leaves_at_once() {
    let bus = PrivateTestBus::start();
    let service = bus.connect();
    // From now on, calls are queued instead of refused.
    assert!(service.next_request(Some(Duration::ZERO)).unwrap().is_none());
    let connection = bus.connect();
    let message = Builder::method_call(ObjectPath::ROOT, MemberName::new("Wait").unwrap())
        .destination(service.unique_name());
    connection.emit("/", "org.example.A", "QueuedBefore", &()).unwrap();
    let call = connection.start_call(&message, &(), CallOptions::default()).unwrap();
    let request = service.next_request(Some(Duration::from_secs(5))).unwrap().expect("the call");
    request.reply(&(7_u32,)).unwrap();
    service.flush().unwrap();
    assert_eq!(call.wait().unwrap().read(), Ok((7_u32,)));
}

#[test]
fn replies_can_be_polled() {
    let bus = PrivateTestBus::start();
    let connection = bus.connect();
    let proxy = connection.proxy(BUS, BUS_PATH, BUS).unwrap();
    let mut call = proxy.start_call("GetId", &(), CallOptions::default()).unwrap();
    assert!(call.poll().is_none());
    let reply = loop {
        connection.process(Some(Duration::from_secs(5))).unwrap();
        if let Some(reply) = call.poll() {
            break reply;
        }
    };
    assert_eq!(reply.unwrap().signature().as_str(), "s");
}

#[test]
fn large_messages_pass_in_both_directions() {
    let bus = PrivateTestBus::start();
    let _service = bus.run_thread(|connection, ready, _| {
        connection.request_name("org.example.Large", NameFlags::NONE).unwrap();
        ready.send(()).unwrap();
        for _ in 0..2 {
            let request = connection.next_request(None).unwrap().unwrap();
            let (bytes,): (Vec<u8>,) = request.read().unwrap();
            request.reply(&(bytes,)).unwrap();
        }
        connection.flush().unwrap();
    });
    let connection = bus.connect();
    for len in [100_000, 20_000_000] {
        let bytes: Vec<u8> = (0..len).map(|index| (index % 251) as u8).collect();
        let reply = connection.call("org.example.Large", "/", "a.b", "Echo", &(&bytes[..],));
        assert_eq!(reply.unwrap().read::<(Vec<u8>,)>().unwrap().0, bytes);
    }
}

#[test]
fn calls_without_replies_time_out() {
    let bus = PrivateTestBus::start();
    let silent = bus.connect();
    // Sets the mode in which `silent` queues calls; it never answers them.
    assert!(silent.next_request(Some(Duration::ZERO)).unwrap().is_none());
    let connection = bus.connect();
    let message = Builder::method_call(ObjectPath::ROOT, MemberName::new("Wait").unwrap())
        .destination(silent.unique_name());
    for limit in [1, 50, 300].map(Duration::from_millis) {
        let options = CallOptions { timeout: Timeout::After(limit), ..CallOptions::default() };
        let start = Instant::now();
        let call = connection.start_call(&message, &(), options).unwrap();
        let error = call.wait().unwrap_err();
        assert!(matches!(error, CallError::TimedOut { limit: passed, .. } if passed == limit));
        let taken = start.elapsed();
        assert!(taken >= limit && taken < limit + Duration::from_millis(250), "{taken:?}");
    }
    connection.set_call_timeout(Some(Duration::from_millis(20)));
    let error = connection.call(silent.unique_name(), "/", "a.b", "Wait", &()).unwrap_err();
    assert!(matches!(error, CallError::TimedOut { .. }), "{error}");
}

#[test]
fn pending_calls_and_subscriptions_fail_when_the_bus_exits() {
    let mut bus = PrivateTestBus::start();
    let connection = bus.connect();
    let address = bus.address.clone();
    let (name_sender, silent) = mpsc::channel();
    // Kills the bus once both calls arrived at a service that does not answer them.
    let killer = thread::spawn(move || {
        let service = Connection::open(&address).unwrap();
        name_sender.send(service.unique_name().as_str().to_owned()).unwrap();
        for _ in 0..2 {
            service.next_request(None).unwrap().unwrap();
        }
        bus.kill();
    });
    let silent = silent.recv().unwrap();
    let changes = connection.subscribe("member='NameOwnerChanged'").unwrap();
    let call = Builder::method_call(ObjectPath::ROOT, MemberName::new("Wait").unwrap())
        .destination(BusName::new(&silent).unwrap());
    let pending = connection.start_call(&call, &(), CallOptions::default()).unwrap();
    let error = connection.call(silent.as_str(), "/", "a.b", "Wait", &()).unwrap_err();
    assert_eq!(error, CallError::Disconnected(Ended::Closed));
    assert_eq!(pending.wait().unwrap_err(), CallError::Disconnected(Ended::Closed));
    loop {
        // Signals that arrived before the end can still be taken.
        match changes.next(None) {
            Ok(signal) => assert!(signal.is_some()),
            Err(error) => {
                break assert_eq!(error.to_string(), "the other end closed the connection");
            }
        }
    }
    assert_eq!(connection.process(None), Err(Ended::Closed));
    assert_eq!(connection.ended(), Some(Ended::Closed));
    let late = connection.call(BUS, BUS_PATH, BUS, "GetId", &());
    assert_eq!(late.unwrap_err(), CallError::Disconnected(Ended::Closed));
    killer.join().unwrap();
}

#[test]
fn names_can_be_requested_queued_and_released() {
    let bus = PrivateTestBus::start();
    let (one, other) = (bus.connect(), bus.connect());
    let name = "org.example.Name";
    let ask = |connection: &Connection, flags| connection.request_name(name, flags).unwrap();
    assert_eq!(ask(&one, NameFlags::ALLOW_REPLACEMENT), RequestReply::PrimaryOwner);
    assert_eq!(ask(&one, NameFlags::ALLOW_REPLACEMENT), RequestReply::AlreadyOwner);
    assert_eq!(ask(&other, NameFlags::DO_NOT_QUEUE), RequestReply::Exists);
    assert_eq!(other.release_name(name).unwrap(), ReleaseReply::NotOwner);
    assert_eq!(ask(&other, NameFlags::NONE), RequestReply::InQueue);
    let replace = NameFlags::REPLACE_EXISTING.with(NameFlags::DO_NOT_QUEUE);
    assert_eq!(ask(&other, replace), RequestReply::PrimaryOwner);
    assert_eq!(other.release_name(name).unwrap(), ReleaseReply::Released);
    assert_eq!(one.release_name(name).unwrap(), ReleaseReply::Released);
    assert_eq!(one.release_name(name).unwrap(), ReleaseReply::NonExistent);
}

#[test]
fn waits_for_an_owner_end_with_the_owner_or_the_timeout() {
    let bus = PrivateTestBus::start();
    let (waiting, owner) = (bus.connect(), bus.connect());
    let name = "org.example.Late";
    let soon = Some(Duration::from_millis(50));
    assert!(!waiting.wait_for_owner(name, soon).unwrap());
    let address = bus.address.clone();
    let (ready, is_ready) = mpsc::channel();
    let late_owner = thread::spawn(move || {
        let (monitor, late) =
            (Connection::open(&address).unwrap(), Connection::open(&address).unwrap());
        become_monitor(&monitor);
        ready.send(()).unwrap();
        // Requests the name only after the waiting connection found that it has no owner.
        while monitor.next_message(None).unwrap().unwrap().member() != Some("NameHasOwner") {}
        assert!(late.request_name(name, NameFlags::NONE).unwrap().is_owner());
        assert_eq!(late.serve_for(Duration::from_secs(60)), Err(Ended::Closed));
    });
    is_ready.recv().unwrap();
    assert!(waiting.wait_for_owner(name, None).unwrap());
    assert!(owner.wait_for_owner(name, Some(Duration::ZERO)).unwrap());
    assert!(!owner.request_name(name, NameFlags::NONE).unwrap().is_owner());
    drop(bus);
    late_owner.join().unwrap();
    let error = waiting.wait_for_owner(name, None).unwrap_err();
    assert!(matches!(error, SubscribeError::Call(CallError::Disconnected(_))), "{error}");
}

#[test]
fn remote_properties_are_read_and_checked() {
    let bus = PrivateTestBus::start();
    let connection = bus.connect();
    let proxy = connection.proxy(BUS, BUS_PATH, BUS).unwrap();
    let features: Vec<String> = proxy.get("Features").unwrap();
    let all: BTreeMap<String, Value> = proxy.get_all().unwrap();
    assert!(all.contains_key("Features") && all.contains_key("Interfaces"), "{features:?}");
    let wrong = proxy.get::<u32>("Features").unwrap_err();
    assert!(matches!(wrong, CallError::Read { error: ReadError::Variant { .. }, .. }), "{wrong}");
    assert_eq!(
        wrong.to_string(),
        "Features of org.freedesktop.DBus cannot be read: a variant holds \"as\", but \"u\" was \
         expected"
    );
    let (missing, written) = (proxy.get::<u32>("Missing"), proxy.set("Features", &1_u32));
    for (error, property) in [(missing.map(drop), "Missing"), (written, "Features")] {
        let text = error.expect_err("dbus-daemon has no such property").to_string();
        let start = format!("{property} of {BUS} failed: org.freedesktop.DBus.Error.");
        assert!(text.starts_with(&start), "{text}");
    }
}

#[test]
fn calls_to_connections_without_objects_get_errors_at_once() {
    let bus = PrivateTestBus::start();
    let idle = bus.connect();
    let name = idle.unique_name().as_str().to_owned();
    let caller = thread::spawn({
        let address = bus.address.clone();
        move || {
            let caller = Connection::open(&address).unwrap();
            let unknown = caller.call(&name, "/a", "a.b", "C", &()).unwrap_err();
            let pinged = caller.call(&name, "/a", "org.freedesktop.DBus.Peer", "Ping", &());
            (unknown, pinged.map(|reply| reply.signature().is_empty()))
        }
    });
    let gone = idle.subscribe("member='NameOwnerChanged',arg2=''").unwrap();
    // Calls are answered during an unrelated wait, here for the end of the caller.
    assert!(gone.next(Some(Duration::from_secs(5))).unwrap().is_some());
    let (unknown, pinged) = caller.join().unwrap();
    assert_eq!(unknown.remote_name(), Some(error_name::UNKNOWN_OBJECT.as_str()));
    assert_eq!(pinged, Ok(true));
}

#[test]
fn monitors_receive_all_messages_unprocessed() {
    let bus = PrivateTestBus::start();
    let monitor = bus.connect();
    become_monitor(&monitor);
    let connection = bus.connect();
    connection.emit("/a", "org.example.A", "Changed", &(7_u32,)).unwrap();
    connection.flush().unwrap();
    let signal = loop {
        let message = monitor.next_message(Some(Duration::from_secs(5))).unwrap().unwrap();
        if message.member() == Some("Changed") {
            break message;
        }
    };
    assert_eq!(signal.read::<(u32,)>(), Ok((7,)));
    assert_eq!(connection.unique_name(), signal.sender().unwrap());
}

fn become_monitor(connection: &Connection) {
    let no_rules: [&str; 0] = [];
    let interface = "org.freedesktop.DBus.Monitoring";
    let arguments = (no_rules, 0_u32);
    connection
        .call(BUS, BUS_PATH, interface, "BecomeMonitor", &arguments)
        .expect("the bus supports monitors");
}

#[test]
fn queued_messages_are_sent_when_the_connection_is_dropped() {
    let bus = PrivateTestBus::start();
    let receiver = bus.connect();
    let signals = receiver.subscribe("member='Farewell'").unwrap();
    let sender = bus.connect();
    sender.emit("/a", "org.example.A", "Farewell", &()).unwrap();
    assert!(signals.next(Some(Duration::from_millis(50))).unwrap().is_none());
    drop(sender);
    assert!(signals.next(Some(Duration::from_secs(5))).unwrap().is_some());
}

#[test]
fn event_loops_get_the_time_until_the_next_call_timeout() {
    let bus = PrivateTestBus::start();
    let silent = bus.connect();
    assert!(silent.next_request(Some(Duration::ZERO)).unwrap().is_none());
    let connection = bus.connect();
    assert_eq!(connection.next_timeout(), None);
    let message = Builder::method_call(ObjectPath::ROOT, MemberName::new("Wait").unwrap())
        .destination(silent.unique_name());
    let timeout = Timeout::After(Duration::from_millis(30));
    let options = CallOptions { timeout, ..CallOptions::default() };
    let mut call = connection.start_call(&message, &(), options).unwrap();
    let wait = connection.next_timeout().expect("a call waits");
    assert!(wait <= Duration::from_millis(30));
    while connection.process(Some(Duration::ZERO)).unwrap() != Processed::Nothing {}
    assert!(call.poll().is_none());
    // The subject of this test is that the advertised time suffices.
    thread::sleep(wait);
    connection.process(Some(Duration::ZERO)).unwrap();
    let error = call.poll().expect("the call timed out").unwrap_err();
    assert!(matches!(error, CallError::TimedOut { .. }), "{error}");
}

#[test]
fn bursts_larger_than_the_socket_buffer_do_not_deadlock() {
    let bus = PrivateTestBus::start();
    let connection = bus.connect();
    connection.request_name("org.example.Self", NameFlags::NONE).unwrap();
    let own = connection.subscribe("member='Burst'").unwrap();
    let text = "x".repeat(2000);
    for index in 0..10_000_u32 {
        connection.emit("/a", "org.example.A", "Burst", &(index, text.as_str())).unwrap();
    }
    for index in 0..10_000_u32 {
        let signal = own.next(Some(Duration::from_secs(5))).unwrap().expect("no signal is lost");
        assert_eq!(signal.read::<(u32, &str)>().unwrap().0, index);
    }
}

#[test]
fn sends_to_a_stopped_bus_time_out() {
    let bus = PrivateTestBus::start();
    let connection = bus.connect();
    bus.stop();
    let text = "x".repeat(8 << 20);
    let message = Builder::method_call(ObjectPath::ROOT, MemberName::new("Wait").unwrap());
    let timeout = Timeout::After(Duration::from_millis(200));
    let options = CallOptions { timeout, ..CallOptions::default() };
    let start = Instant::now();
    let call = connection.start_call(&message, &(text.as_str(),), options).unwrap();
    assert!(matches!(call.wait(), Err(CallError::TimedOut { .. })));
    connection.set_call_timeout(Some(Duration::from_millis(200)));
    connection.emit("/a", "org.example.A", "Long", &(text.as_str(),)).unwrap();
    assert_eq!(connection.flush_within(Duration::from_millis(200)), Ok(Flushed::InPart));
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
}
