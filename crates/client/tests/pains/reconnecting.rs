//! When the bus is restarted, every program has to notice, connect again, and repair its names and
//! rules by hand; many only exit. Here, a connection that asked for it does all of this, repeats
//! nothing that was in flight, and says so.

use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use diligence_client::asynchronous::{self, Runtime};
use diligence_client::{
    CallError, CallOptions, ConnectOptions, Connection, Ended, LaneUse, NameFlags, Processed,
    ReceivedMessage, Reconnect, ReconnectLimits, Reconnection, SendError, ServedInterface,
    Subscription, SubscriptionError, error_name,
};

use unix::poll::{Interest, wait_for_any};

use crate::silent_service::{self, SilentService, wait_method};
use crate::support::{BusProgram, PATIENCE, PrivateTestBus, TestDirectory};

mod tests {
    crate::pains! {
        blocking:
            connections_are_restored_after_a_restart
            lost_names_and_stale_owners_are_not_kept
            calls_of_an_earlier_bus_cannot_be_answered
            threads_that_serve_and_call_survive_a_restart
            event_loops_survive_a_restart
            the_descriptor_of_all_sockets_stays
            connections_end_if_the_bus_stays_away;
        asynchronous:
            connections_are_restored_after_a_restart_in_a_task
            lanes_end_with_the_bus_and_come_again_in_a_task
            connections_end_if_the_bus_stays_away_in_a_task;
    }
}

const NAME: &str = "org.example.Player";
const PATH: &str = "/org/example/Player";
const SENDER: &str = "org.example.Sender";
const BUS: &str = "org.freedesktop.DBus";
const BUS_PATH: &str = "/org/freedesktop/DBus";

/// A bus that can be restarted at the same address.
struct RestartableBus {
    directory: TestDirectory,
    program: BusProgram,
    bus: PrivateTestBus,
}

impl RestartableBus {
    fn start(program: BusProgram, name: &str) -> Self {
        static STARTED: AtomicUsize = AtomicUsize::new(0);
        let number = STARTED.fetch_add(1, Ordering::Relaxed);
        let directory = TestDirectory::new(&format!("{name}-{number}"));
        let bus = PrivateTestBus::start_this_in(program, &directory);
        Self { directory, program, bus }
    }

    fn stop(&mut self) {
        self.bus.kill();
    }

    fn start_again(&mut self) {
        self.bus = PrivateTestBus::start_this_in(self.program, &self.directory);
    }

    fn connect(&self) -> Connection {
        Connection::open_with(&self.bus.address.parse().unwrap(), &options(GIVE_UP)).unwrap()
    }
}

fn options(give_up_after: Duration) -> ConnectOptions {
    let limits = ReconnectLimits { give_up_after, ..ReconnectLimits::default() };
    ConnectOptions { reconnect: Reconnect::WhenLost(limits), ..ConnectOptions::default() }
}

fn interface() -> ServedInterface<u32> {
    ServedInterface::<u32>::builder(NAME)
        .method("Count", &[], &["count"], |count, _, ()| {
            *count += 1;
            Ok((*count,))
        })
        .build()
        .unwrap()
}

/// The number of match rules of a connection, if the bus has statistics.
fn rules(observer: &Connection, unique_name: &str) -> u32 {
    use diligence_client::wire::body::Value;
    let stats = "org.freedesktop.DBus.Debug.Stats";
    let reply = observer.call(BUS, BUS_PATH, stats, "GetConnectionStats", &(unique_name,)).unwrap();
    let (stats,): (std::collections::BTreeMap<String, Value>,) = reply.read().unwrap();
    match stats["MatchRules"] {
        Value::Uint32(count) => count,
        ref other => panic!("{other:?}"),
    }
}

fn emit(sender: &Connection, number: u32) {
    sender.emit("/a", "a.b", "C", &(number,)).unwrap();
    sender.flush().unwrap();
}

fn number(signal: &ReceivedMessage) -> u32 {
    signal.read::<(u32,)>().unwrap().0
}

fn next(subscription: &Subscription) -> Result<u32, SubscriptionError> {
    Ok(number(&subscription.next(Some(PATIENCE))?.expect("a signal")))
}

fn owner(observer: &Connection, name: &str) -> String {
    let reply = observer.call(BUS, BUS_PATH, BUS, "GetNameOwner", &(name,)).unwrap();
    reply.read::<(String,)>().unwrap().0
}

fn check(report: &Reconnection, unique_name: &str) {
    assert_eq!(report.reason, Ended::Closed);
    assert_eq!(report.unique_name, unique_name);
    assert_eq!((&report.lost_names[..], &report.refused_rules[..]), (&[][..], &[][..]));
}

fn connections_are_restored_after_a_restart(program: BusProgram) {
    let mut bus = RestartableBus::start(program, "restored");
    let service = SilentService::start(&bus.bus);
    let connection = bus.connect();
    connection.request_name(NAME, NameFlags::NONE).unwrap();
    connection.request_name("org.example.Other", NameFlags::NONE).unwrap();
    connection.release_name("org.example.Other").unwrap();
    connection.add_object(PATH, &interface(), 0).unwrap();
    let signals = connection.subscribe("member='C'").unwrap();
    let _same = connection.subscribe("member='C'").unwrap();
    let ended = connection.subscribe("member='D'").unwrap();
    drop(ended);
    emit(&service.connection, 1);
    let in_flight =
        connection.start_call(&wait_method(), &(1_u32,), CallOptions::default()).unwrap();
    connection.flush().unwrap();
    assert_eq!(service.next_call().1, 1);
    assert_eq!(next(&signals), Ok(1));

    bus.stop();
    let failed = in_flight.wait().expect_err("nothing in flight is repeated");
    assert_eq!(failed, CallError::Disconnected(Ended::Closed));
    assert_eq!(connection.ended(), None);
    // It is sent to the next bus, because it was never sent to the earlier one.
    let queued = connection.proxy(BUS, BUS_PATH, BUS).unwrap();
    let queued = queued.start_call("GetId", &(), CallOptions::default()).unwrap();
    bus.start_again();
    let service = SilentService::start(&bus.bus);
    queued.wait().unwrap();
    let report = connection.next_reconnection(Some(PATIENCE)).unwrap().expect("a report");
    check(&report, connection.unique_name().as_str());
    assert_eq!(connection.next_reconnection(Some(Duration::ZERO)).unwrap(), None);

    let observer = &service.connection;
    assert_eq!(owner(observer, NAME), connection.unique_name().as_str());
    assert_eq!(rules(observer, connection.unique_name().as_str()), 1);
    emit(observer, 2);
    assert_eq!(next(&signals), Err(SubscriptionError::Reconnected));
    assert_eq!(next(&signals), Ok(2));
    let call = observer.proxy(NAME, PATH, NAME).unwrap();
    let call = call.start_call("Count", &(), CallOptions::default()).unwrap();
    observer.flush().unwrap();
    while connection.process(Some(PATIENCE)).unwrap() != Processed::Request {}
    connection.flush().unwrap();
    assert_eq!(call.wait().unwrap().read::<(u32,)>().unwrap(), (1,));
    let repeated = service.connection.next_request(Some(Duration::from_millis(50)));
    assert!(repeated.unwrap().is_none(), "the call that was in flight was repeated");
    let free = observer.call(BUS, BUS_PATH, BUS, "GetNameOwner", &("org.example.Other",));
    let free = free.expect_err("a released name is not requested again");
    assert_eq!(free.remote_name(), Some(error_name::NAME_HAS_NO_OWNER.as_str()));
}

async fn connections_are_restored_after_a_restart_in_a_task(
    program: BusProgram,
    runtime: &(impl Runtime + Sync),
) {
    let mut bus = RestartableBus::start(program, "restored-task");
    let service = SilentService::start(&bus.bus);
    let address = bus.bus.address.parse().unwrap();
    let connection =
        asynchronous::Connection::open_with(&address, &options(GIVE_UP), runtime).await.unwrap();
    connection.request_name(NAME, NameFlags::NONE).await.unwrap();
    let signals = connection.subscribe("member='C'").await.unwrap();
    let in_flight = connection.start_call(&wait_method(), &(1_u32,), CallOptions::default());
    connection.flush().await.unwrap();
    assert_eq!(service.next_call().1, 1);

    bus.stop();
    let failed = in_flight.await.expect_err("nothing in flight is repeated");
    assert_eq!(failed, CallError::Disconnected(Ended::Closed));
    assert_eq!(connection.ended(), None);
    let queued = connection.call(BUS, BUS_PATH, BUS, "GetId", &());
    bus.start_again();
    let service = SilentService::start(&bus.bus);
    queued.await.unwrap();
    let report = connection.next_reconnection().await.unwrap();
    check(&report, connection.unique_name().as_str());

    let observer = &service.connection;
    assert_eq!(owner(observer, NAME), connection.unique_name().as_str());
    assert_eq!(rules(observer, connection.unique_name().as_str()), 1);
    emit(observer, 2);
    assert_eq!(signals.next().await.unwrap_err(), SubscriptionError::Reconnected);
    assert_eq!(number(&signals.next().await.unwrap()), 2);
    let repeated = service.connection.next_request(Some(Duration::from_millis(50)));
    assert!(repeated.unwrap().is_none(), "the call that was in flight was repeated");
}

fn lost_names_and_stale_owners_are_not_kept(program: BusProgram) {
    let mut bus = RestartableBus::start(program, "stale");
    let sender = bus.bus.connect();
    sender.request_name(SENDER, NameFlags::NONE).unwrap();
    let connection = bus.connect();
    connection.request_name(NAME, NameFlags::DO_NOT_QUEUE).unwrap();
    let signals = connection.proxy(SENDER, "/a", "a.b").unwrap().signals("C").unwrap();
    emit(&sender, 1);
    assert_eq!(next(&signals), Ok(1));
    let stale = sender.unique_name().to_string();

    bus.stop();
    bus.start_again();
    // Nothing runs in the background, so another connection is faster.
    let other = bus.bus.connect();
    other.request_name(NAME, NameFlags::NONE).unwrap();
    let report = connection.next_reconnection(Some(PATIENCE)).unwrap().expect("a report");
    assert_eq!(report.lost_names, [NAME]);
    assert_eq!(next(&signals), Err(SubscriptionError::Reconnected));

    // A connection with the unique name of the earlier owner is not the owner.
    let mut senders = vec![other];
    while !senders.iter().any(|sender| sender.unique_name() == stale.as_str()) {
        senders.push(bus.bus.connect());
        assert!(senders.len() < 50, "no connection is called {stale}");
    }
    senders.iter().for_each(|sender| emit(sender, 2));
    let owner = bus.bus.connect();
    owner.request_name(SENDER, NameFlags::NONE).unwrap();
    emit(&owner, 3);
    assert_eq!(next(&signals), Ok(3));
}

fn calls_of_an_earlier_bus_cannot_be_answered(program: BusProgram) {
    let mut bus = RestartableBus::start(program, "answers");
    let connection = bus.connect();
    assert!(connection.next_request(Some(Duration::ZERO)).unwrap().is_none());
    connection.request_name(silent_service::NAME, NameFlags::NONE).unwrap();
    let caller = bus.bus.connect();
    let _call = caller.start_call(&wait_method(), &(1_u32,), CallOptions::default()).unwrap();
    caller.flush().unwrap();
    let request = connection.next_request(Some(PATIENCE)).unwrap().expect("a call");
    bus.stop();
    bus.start_again();
    connection.next_reconnection(Some(PATIENCE)).unwrap().expect("a report");
    assert_eq!(request.reply(&(1_u32,)), Err(SendError::Disconnected(Ended::Closed)));
}

fn threads_that_serve_and_call_survive_a_restart(program: BusProgram) {
    let mut bus = RestartableBus::start(program, "threads");
    let connection = bus.connect();
    connection.add_object(PATH, &interface(), 0).unwrap();
    connection.request_name(NAME, NameFlags::NONE).unwrap();
    let server = thread::spawn(move || connection.serve());
    let caller = bus.connect();
    let count = |expected: u32| {
        let begun = Instant::now();
        // The caller can be faster than the server.
        loop {
            match caller.call(NAME, PATH, NAME, "Count", &()) {
                Ok(reply) => break assert_eq!(reply.read::<(u32,)>().unwrap(), (expected,)),
                Err(error) => assert!(begun.elapsed() < PATIENCE, "{error}"),
            }
            thread::sleep(Duration::from_millis(5));
        }
    };
    count(1);
    for restart in 2..5 {
        bus.stop();
        thread::sleep(Duration::from_millis(120));
        bus.start_again();
        count(restart);
    }
    assert!(!server.is_finished());
    drop(server);
}

#[test]
fn lanes_end_with_the_bus_and_come_again() {
    let mut bus = RestartableBus::start(BusProgram::Diligence, "lanes");
    let (service, caller) = (bus.connect(), bus.connect());
    [&service, &caller].into_iter().for_each(|it| it.set_lane_use(LaneUse::On));
    service.add_object(PATH, &interface(), 0).unwrap();
    service.request_name(NAME, NameFlags::NONE).unwrap();
    thread::spawn(move || service.serve());
    let count = |expected: u32| {
        let reply = caller.call(NAME, PATH, NAME, "Count", &()).unwrap();
        assert_eq!(reply.read::<(u32,)>().unwrap(), (expected,));
    };
    (1..=100).for_each(count);
    assert_eq!(caller.lane_count(), 1);
    bus.stop();
    bus.start_again();
    assert!(caller.next_reconnection(Some(PATIENCE)).unwrap().is_some());
    assert_eq!(caller.lane_count(), 0);
    assert!(caller.wait_for_owner(NAME, Some(PATIENCE)).unwrap());
    (101..=200).for_each(count);
    assert_eq!(caller.lane_count(), 1);
}

fn the_descriptor_of_all_sockets_stays(program: BusProgram) {
    let mut bus = RestartableBus::start(program, "descriptor");
    let connection = bus.connect();
    let signals = connection.subscribe("member='C'").unwrap();
    let incoming = connection.incoming_descriptor().unwrap();
    let is_readable = |wait| wait_for_any(&[(incoming, Interest::Read)], Some(wait)).unwrap()[0];
    bus.stop();
    assert!(is_readable(PATIENCE), "the end of the connection wakes the program");
    bus.start_again();
    assert!(connection.next_reconnection(Some(PATIENCE)).unwrap().is_some());
    while connection.process(Some(Duration::ZERO)) != Ok(Processed::Nothing) {}
    assert!(!is_readable(Duration::ZERO), "nothing arrived");
    emit(&bus.connect(), 2);
    assert!(is_readable(PATIENCE), "the signal wakes the program");
    assert_eq!(signals.next(None).unwrap_err(), SubscriptionError::Reconnected);
    assert_eq!(number(&signals.next(None).unwrap().unwrap()), 2);
}

async fn lanes_end_with_the_bus_and_come_again_in_a_task(
    program: BusProgram,
    runtime: &(impl Runtime + Sync),
) {
    let mut bus = RestartableBus::start(program, "lanes-task");
    let service = bus.connect();
    service.set_lane_use(LaneUse::On);
    service.add_object(PATH, &interface(), 0).unwrap();
    service.request_name(NAME, NameFlags::NONE).unwrap();
    thread::spawn(move || service.serve());
    let address = bus.bus.address.parse().unwrap();
    let caller =
        asynchronous::Connection::open_with(&address, &options(GIVE_UP), runtime).await.unwrap();
    caller.set_lane_use(LaneUse::On).unwrap();
    let lanes = usize::from(program == BusProgram::Diligence);
    let count = async |numbers: RangeInclusive<u32>| {
        for expected in numbers {
            let reply = caller.call(NAME, PATH, NAME, "Count", &()).await.unwrap();
            assert_eq!(reply.read::<(u32,)>().unwrap(), (expected,));
        }
    };
    count(1..=100).await;
    assert_eq!(caller.lane_count(), lanes);
    bus.stop();
    bus.start_again();
    caller.next_reconnection().await.unwrap();
    assert_eq!(caller.lane_count(), 0);
    let observer = bus.connect();
    assert!(observer.wait_for_owner(NAME, Some(PATIENCE)).unwrap());
    count(101..=200).await;
    assert_eq!(caller.lane_count(), lanes);
}

fn event_loops_survive_a_restart(program: BusProgram) {
    let mut bus = RestartableBus::start(program, "event-loop");
    let connection = bus.connect();
    let signals = connection.subscribe("member='C'").unwrap();
    bus.stop();
    assert_eq!(connection.process(Some(Duration::ZERO)), Ok(Processed::Nothing));
    let begun = Instant::now();
    let mut turns = 0;
    let mut is_away = true;
    loop {
        let wait = connection.next_timeout().expect("an attempt is due");
        thread::sleep(wait);
        turns += 1;
        if is_away && turns > 3 {
            bus.start_again();
            is_away = false;
        }
        match connection.process(Some(Duration::ZERO)) {
            Ok(Processed::Reconnected) => break,
            Ok(_) if connection.next_timeout().is_none() => {
                // It is connected, and the replies to the restoring calls arrive.
                while connection.process(Some(PATIENCE)) != Ok(Processed::Reconnected) {
                    assert!(begun.elapsed() < PATIENCE);
                }
                break;
            }
            Ok(_) => assert!(begun.elapsed() < PATIENCE),
            Err(ended) => panic!("{ended}"),
        }
    }
    assert!(turns < 20, "{turns} turns: the socket woke the program without a reason");
    emit(&bus.bus.connect(), 7);
    assert_eq!(next(&signals), Err(SubscriptionError::Reconnected));
    assert_eq!(next(&signals), Ok(7));
}

fn connections_end_if_the_bus_stays_away(program: BusProgram) {
    let mut bus = RestartableBus::start(program, "away");
    let address = bus.bus.address.parse().unwrap();
    let connection = Connection::open_with(&address, &options(LITTLE)).unwrap();
    let signals = connection.subscribe("member='C'").unwrap();
    bus.stop();
    let begun = Instant::now();
    assert!(connection.process(Some(Duration::from_millis(20))).is_ok());
    let lost = connection.proxy(BUS, BUS_PATH, BUS).unwrap();
    let lost = lost.start_call("GetId", &(), CallOptions::default()).unwrap();
    assert_eq!(connection.serve(), Ended::Closed);
    assert!(begun.elapsed() >= LITTLE && begun.elapsed() < 10 * LITTLE, "{:?}", begun.elapsed());
    assert_eq!(lost.wait().unwrap_err(), CallError::Disconnected(Ended::Closed));
    let ended = signals.next(None).unwrap_err();
    assert_eq!(ended, SubscriptionError::Disconnected(Ended::Closed));
    assert_eq!(connection.ended(), Some(Ended::Closed));
}

async fn connections_end_if_the_bus_stays_away_in_a_task(
    program: BusProgram,
    runtime: &(impl Runtime + Sync),
) {
    let mut bus = RestartableBus::start(program, "away-task");
    let address = bus.bus.address.parse().unwrap();
    let connection =
        asynchronous::Connection::open_with(&address, &options(LITTLE), runtime).await.unwrap();
    bus.stop();
    let begun = Instant::now();
    assert_eq!(connection.serve().await, Ended::Closed);
    assert!(begun.elapsed() >= LITTLE && begun.elapsed() < 10 * LITTLE, "{:?}", begun.elapsed());
    assert_eq!(connection.next_reconnection().await, Err(Ended::Closed));
}

const GIVE_UP: Duration = Duration::from_secs(60);
const LITTLE: Duration = Duration::from_millis(400);
