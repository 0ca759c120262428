//! A user that floods the bus, connects too often or does not read its messages does not delay
//! other users.

use std::fs;
use std::os::fd::AsFd as _;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use conformance::process::{open_files, processor_time};
use conformance::{
    BusUnderTest, ExternalProgram, Flavour, PeerStream, PlainMessage, PlainValue,
    ReceivedDescriptors, RunAs, ScratchFolder, TestConfig, TestPeer, bus_binary, copy_bus,
    diligence, eventually, field, flag, kind, root, run_tests, test_case,
};

fn main() -> ExitCode {
    run_tests([
        test_case!(a_flood_of_one_user_does_not_delay_others).requires(root()),
        test_case!(signals_reach_others_if_one_user_does_not_read).requires(root()),
        test_case!(others_can_connect_if_one_user_has_all_its_connections).requires(root()),
        test_case!(connected_clients_work_when_descriptors_run_out),
        test_case!(a_message_whose_descriptors_cannot_be_received_is_refused).requires(diligence()),
        test_case!(others_pass_descriptors_if_the_bus_holds_many_for_one_user)
            .requires(root())
            .requires(diligence()),
        test_case!(a_user_that_connects_too_often_is_throttled).requires(diligence()),
        test_case!(others_connect_while_one_user_is_throttled)
            .requires(root())
            .requires(diligence()),
        test_case!(a_limit_can_be_higher_for_one_user).requires(root()).requires(diligence()),
        test_case!(other_buses_ignore_settings_of_this_one),
        test_case!(others_can_connect_if_one_user_never_sends_hello)
            .requires(root())
            .requires(diligence()),
    ])
}

/// Longer than any reply takes, and shorter than any wait for another user.
const AT_ONCE: Duration = Duration::from_millis(500);

fn open_to_all() -> TestConfig {
    TestConfig::session().policy("context='default'", "<allow user='*'/>")
}

/// Makes a number of calls between two clients; returns the longest round trip.
fn longest_round_trip(caller: &mut TestPeer, callee: &mut TestPeer, count: u32) -> Duration {
    (0..count).map(|_| caller.round_trip(callee)).max().unwrap_or_default()
}

/// A flood of signals, and the bus that receives it.
#[derive(Clone, Copy, Debug)]
struct FairnessFlood {
    /// The limit of open files of the bus; `None` for the limit of this process.
    open_files: Option<u32>,
    /// The number of descriptors in each signal.
    descriptors: usize,
}

const FLOODS: [FairnessFlood; 4] = [
    FairnessFlood { open_files: None, descriptors: 0 },
    FairnessFlood { open_files: Some(64), descriptors: 0 },
    FairnessFlood { open_files: Some(128), descriptors: 1 },
    FairnessFlood { open_files: Some(256), descriptors: 16 },
];

/// One user floods the bus from several connections with signals that another connection of the
/// same user never reads. Two clients of another user exchange calls and descriptors.
fn a_flood_of_one_user_does_not_delay_others() {
    let is_diligence = Flavour::under_test() == Flavour::Diligence;
    for flood in FLOODS.into_iter().filter(|flood| is_diligence || flood.open_files.is_none()) {
        let longest = longest_call_during(flood);
        assert!(longest < AT_ONCE, "{flood:?}: a call took {longest:?}");
    }
}

fn longest_call_during(flood: FairnessFlood) -> Duration {
    let scratch = ScratchFolder::new();
    let bus = match flood.open_files {
        None => BusUnderTest::start(&open_to_all()),
        Some(count) => bus_with_descriptors(count, &scratch),
    };
    let [mut caller, mut callee] = [bus.peer(), bus.peer()];
    let mut theirs = FLOODER.act(|| [(); 4].map(|()| bus.peer()));
    theirs[0].add_match("member='Signal'");
    let [sleeper, flooders @ ..] = &mut theirs;
    let is_over = AtomicBool::new(false);
    let longest = std::thread::scope(|scope| {
        for flooder in flooders.iter_mut() {
            scope.spawn(|| send_flood(flooder, flood, &is_over));
        }
        let longest = longest_round_trip(&mut caller, &mut callee, 200);
        if flood.descriptors > 0 {
            passes_descriptors(&mut caller, &mut callee);
        }
        is_over.store(true, Ordering::Relaxed);
        // The peers that wait for room can continue.
        drop(sleeper.drain());
        longest
    });
    bus.stop();
    longest
}

fn send_flood(flooder: &mut TestPeer, flood: FairnessFlood, is_over: &AtomicBool) {
    let null = fs::File::open("/dev/null").expect("it exists");
    let descriptors = vec![null.as_fd(); flood.descriptors];
    let signal = PlainMessage::some_signal().arg(PlainValue::text(&"x".repeat(2_000)));
    let bytes = match flood.descriptors {
        0 => flooder.numbered(signal).encode().repeat(20),
        count => {
            let signal = signal.field(field::UNIX_FDS, PlainValue::U32(count as u32));
            flooder.numbered(signal).encode()
        }
    };
    while !is_over.load(Ordering::Relaxed) {
        match flood.descriptors {
            0 => flooder.send_bytes(&bytes),
            _ => flooder.send_with_descriptors(&bytes, &descriptors),
        }
    }
}

/// Neither the user of the bus nor the user of the two clients: the kernel counts descriptors in
/// flight by the user of their sender.
const FLOODER: RunAs = RunAs { uid: 65533, gid: 65533 };

/// One user does not read the signals of its rules. Clients of another user lose no signals and do
/// not wait.
fn signals_reach_others_if_one_user_does_not_read() {
    let bus = BusUnderTest::start(&open_to_all().limit("max_outgoing_bytes", 100_000));
    let [mut sender, mut reader] = [bus.peer(), bus.peer()];
    reader.add_match("member='Signal'");
    let mut sleeper = RunAs::NOBODY.act(|| bus.peer());
    sleeper.add_match("member='Signal'");
    let body = PlainValue::text(&"x".repeat(10_000));
    for _ in 0..300 {
        let started = Instant::now();
        let serial = sender.send(PlainMessage::some_signal().arg(body.clone()));
        assert_eq!(reader.receive().map(|found| found.serial), Some(serial));
        let took = started.elapsed();
        // Until the bus notices that the peer does not read, it throttles the sender, for a second.
        assert!(took < AT_ONCE + Duration::from_secs(1), "a signal took {took:?}");
    }
    assert!(longest_round_trip(&mut sender, &mut reader, 50) < AT_ONCE);
    assert!(!sleeper.drain().is_empty());
    bus.stop();
}

/// One user has as many connections as a user may have. Other users can connect.
fn others_can_connect_if_one_user_has_all_its_connections() {
    let bus = BusUnderTest::start(&open_to_all().limit("max_connections_per_user", 5));
    let _hoard = RunAs::NOBODY.act(|| [(); 5].map(|()| bus.peer()));
    let refused = RunAs::NOBODY.act(|| {
        let mut late = TestPeer::before_hello(bus.address(), ReceivedDescriptors::Unwanted);
        late.hello().error_name().to_owned()
    });
    assert_eq!(refused, "LimitsExceeded");
    assert!(bus.peer().is_alive());
    bus.stop();
}

/// A bus with a low limit of descriptors, which it cannot raise because it runs as an ordinary
/// user.
fn bus_with_descriptors(count: u32, scratch: &ScratchFolder) -> BusUnderTest {
    conformance::set_mode(scratch.path(), 0o755);
    let as_user = |_| {
        let limited =
            ExternalProgram::named("prlimit", "util-linux").arg(format!("--nofile={count}"));
        if RunAs::is_root() {
            limited.user(RunAs::NOBODY).arg(copy_bus(scratch))
        } else {
            limited.arg(link(scratch))
        }
    };
    BusUnderTest::start_with(&open_to_all(), as_user)
}

fn link(scratch: &ScratchFolder) -> std::path::PathBuf {
    let link = scratch.join("dbus-daemon");
    std::os::unix::fs::symlink(bus_binary(), &link).expect("a fresh folder");
    link
}

/// No descriptor is left for another connection. Connected clients continue to work, and pass
/// descriptors; a new client waits until another one disconnects. dbus-daemon disconnects clients
/// whose descriptors it cannot receive.
fn connected_clients_work_when_descriptors_run_out() {
    let scratch = ScratchFolder::new();
    let mut bus = bus_with_descriptors(64, &scratch);
    let [mut one, mut other] = [bus.peer(), bus.peer()];
    let hoard: Vec<_> = (0..100).map(|_| PeerStream::connect(bus.address())).collect();
    let mut waiting = PeerStream::connect(bus.address());
    waiting.write(b"\0AUTH\r\n");
    assert!(waiting.is_silent(Duration::from_millis(300)), "this one waits");
    assert!(longest_round_trip(&mut one, &mut other, 20) < AT_ONCE);

    if Flavour::under_test() == Flavour::Diligence {
        passes_descriptors(&mut one, &mut other);
        let log = bus.process().stderr();
        assert_eq!(log.matches("Cannot accept connections").count(), 1, "{log}");
        let before = processor_time(bus.process().id());
        // The time of the measurement, in which the bus can do nothing.
        std::thread::sleep(Duration::from_millis(500));
        let used = processor_time(bus.process().id()) - before;
        assert!(used <= IDLE_MOST, "it waits without turning round: {used:?}");
    }

    drop(hoard);
    assert!(waiting.read_line().is_some_and(|line| line.starts_with("REJECTED")));
    eventually("room for others", || PeerStream::dial(bus.address()).ok());
    assert!(bus.peer().is_alive());
    assert!(one.is_alive() && other.is_alive());
    bus.stop();
}

/// The bus has no free descriptor. A message whose descriptors it cannot receive is refused, and
/// its sender stays connected.
fn a_message_whose_descriptors_cannot_be_received_is_refused() {
    const MAX: u32 = 64;
    let scratch = ScratchFolder::new();
    conformance::set_mode(scratch.path(), 0o755);
    let mut bus = bus_with_descriptors(MAX, &scratch);
    let [mut filler, sleeper, mut one, mut other] = [(); 4].map(|()| bus.peer());
    let file = fs::File::open("/dev/null").expect("it exists");
    let to = |peer: &TestPeer, count: u32| {
        PlainMessage::some_call(peer.name()).field(field::UNIX_FDS, PlainValue::U32(count))
    };
    // The following messages wait in the queue of the bus.
    for _ in 0..10 {
        let body = PlainValue::text(&"x".repeat(100_000));
        let call = PlainMessage::some_call(sleeper.name()).flags(flag::NO_REPLY_EXPECTED);
        let _ = filler.send(call.arg(body));
    }
    let held = |bus: &mut BusUnderTest| open_files(bus.process().id()).len() as u32;
    // The bus holds at most a quarter of its descriptors for one user.
    let mut idle = Vec::new();
    while held(&mut bus) < MAX - MAX / 4 {
        idle.push(bus.peer());
    }
    for _ in 0..MAX {
        if held(&mut bus) < MAX {
            let message = to(&sleeper, 1).flags(flag::NO_REPLY_EXPECTED);
            let bytes = filler.numbered(message).encode();
            filler.send_with_descriptors(&bytes, &[file.as_fd()]);
            let _ = filler.collect();
        }
    }
    assert_eq!(held(&mut bus), MAX, "all descriptors are in use");

    let message = one.numbered(to(&other, 4));
    let before = one.numbered(PlainMessage::some_call(other.name()).flags(flag::NO_REPLY_EXPECTED));
    // One read receives both messages; only the second one has descriptors.
    let bytes = [before.encode(), message.encode()].concat();
    one.send_with_descriptors(&bytes, &[file.as_fd(); 4]);
    let answer = one.receive().expect("it is still connected");
    assert_eq!(answer.error_name(), "LimitsExceeded", "{}", answer.summary());
    assert_eq!(other.receive().map(|found| found.serial), Some(before.serial));
    assert!(longest_round_trip(&mut one, &mut other, 20) < AT_ONCE);
    let log = bus.process().stderr();
    assert!(log.contains("was refused: The file descriptors of the message could not be"), "{log}");

    drop((sleeper, idle));
    eventually("free descriptors", || (held(&mut bus) < MAX / 2).then_some(()));
    passes_descriptors(&mut one, &mut other);
    assert!(filler.is_alive());
    bus.stop();
}

/// A user makes the bus hold descriptors for recipients that do not read, over many connections.
/// Other users still connect and pass descriptors.
fn others_pass_descriptors_if_the_bus_holds_many_for_one_user() {
    const MAX: u32 = 128;
    let scratch = ScratchFolder::new();
    conformance::set_mode(scratch.path(), 0o755);
    let mut bus = bus_with_descriptors(MAX, &scratch);
    let file = fs::File::open("/dev/null").expect("it exists");
    let [mut one, mut other] = [bus.peer(), bus.peer()];
    let mut hoarder = RunAs::NOBODY.act(|| bus.peer());
    let sinks: Vec<TestPeer> = (0..12).map(|_| RunAs::NOBODY.act(|| bus.peer())).collect();
    for sink in &sinks {
        for _ in 0..4 {
            let call = PlainMessage::some_call(sink.name()).flags(flag::NO_REPLY_EXPECTED);
            hoarder.send(call.arg(PlainValue::text(&"x".repeat(100_000))));
        }
        for _ in 0..4 {
            let call = PlainMessage::some_call(sink.name()).flags(flag::NO_REPLY_EXPECTED);
            let bytes = hoarder.numbered(call.field(field::UNIX_FDS, PlainValue::U32(4))).encode();
            hoarder.send_with_descriptors(&bytes, &[file.as_fd(); 4]);
        }
    }
    assert!(hoarder.is_alive());
    let held = open_files(bus.process().id()).len() as u32;
    assert!(held < MAX / 4 + 40, "{held}");
    passes_descriptors(&mut one, &mut other);
    assert!(bus.peer().is_alive(), "others can connect");
    drop((sinks, hoarder));
    eventually("free descriptors", || (open_files(bus.process().id()).len() < 25).then_some(()));
    bus.stop();
}

fn passes_descriptors(one: &mut TestPeer, other: &mut TestPeer) {
    let file = fs::File::open("/dev/null").expect("it exists");
    let message = PlainMessage::some_call(other.name()).flags(flag::NO_REPLY_EXPECTED);
    let message = message.field(field::UNIX_FDS, PlainValue::U32(4));
    let bytes = one.numbered(message).encode();
    one.send_with_descriptors(&bytes, &[file.as_fd(); 4]);
    assert_eq!(other.receive().map(|found| found.kind), Some(kind::CALL));
}

const IDLE_MOST: Duration = Duration::from_millis(50);

/// Adds settings of Diligence as processing instructions, which dbus-daemon ignores.
fn instructed(config: TestConfig, settings: &str) -> TestConfig {
    config.element(&format!("<?diligence {settings}?>"))
}

/// A user that reconnects continuously is throttled to the configured rate.
fn a_user_that_connects_too_often_is_throttled() {
    let (mut bus, took) = throttled_bus();
    // Five connections at once and 25 at 50 per second, minus the time that the first ones took.
    assert!(took > Duration::from_millis(400), "{took:?}");
    let log = bus.process().stderr();
    assert_eq!(
        log.matches("connects too often: new connections are served later").count(),
        1,
        "{log}"
    );

    assert!(bus.peer().is_alive());
    bus.stop();
}

/// If very many connections of a throttled user wait, further ones are closed. Other users connect
/// without delay.
fn others_connect_while_one_user_is_throttled() {
    let (mut bus, _) = throttled_bus();
    let address = bus.address().to_owned();
    let storm: Vec<_> = (0..60).map(|_| PeerStream::connect(&address)).collect();
    let started = Instant::now();
    RunAs::NOBODY.act(|| (0..5).for_each(|_| assert!(TestPeer::connect(&address).is_alive())));
    assert!(started.elapsed() < AT_ONCE, "{:?}", started.elapsed());
    let mut latest = storm.into_iter().rev().take(20);
    assert!(latest.all(|mut stream| stream.is_closed()), "the latest connections are closed");
    let log = bus.process().stderr();
    assert!(log.contains("connects too often: new connections are rejected"), "{log}");
    // The bus must serve the waiting connections before it accepts this one, at a limited rate.
    std::thread::sleep(Duration::from_millis(500));
    assert!(bus.peer().is_alive(), "waiting clients are served again");
    bus.stop();
}

/// Starts a bus and connects until the connections of this user are throttled. Also returns the
/// time that this took.
fn throttled_bus() -> (BusUnderTest, Duration) {
    let rate = "<limit name='max_connections_per_second_per_user'>50</limit>\
                <limit name='max_connection_burst_per_user'>5</limit>";
    let bus = BusUnderTest::start(&instructed(open_to_all(), rate));
    // The start used a part of the burst, which is restored after some time.
    std::thread::sleep(Duration::from_millis(200));
    let started = Instant::now();
    (0..30).for_each(|_| assert!(TestPeer::connect(bus.address()).is_alive()));
    let took = started.elapsed();
    (bus, took)
}

/// The limit for one user can be higher than the limit for others.
fn a_limit_can_be_higher_for_one_user() {
    let more = "<limit name='max_match_rules_per_connection' user='nobody'>5</limit>\
                <limit name='max_connections_per_user' user='65534'>4</limit>";
    let config = open_to_all().limit("max_match_rules_per_connection", 2);
    let bus = BusUnderTest::start(&instructed(config.limit("max_connections_per_user", 2), more));
    let rules = |mut peer: TestPeer| {
        let granted = |_: &u32| peer.ask_bus("AddMatch", "type='signal'").error_name().is_empty();
        (0..10).take_while(granted).count()
    };
    let mine = [bus.peer(), bus.peer()];
    let theirs = RunAs::NOBODY.act(|| [(); 4].map(|()| bus.peer()));
    for user in [RunAs::NOBODY, RunAs { uid: 0, gid: 0 }] {
        let error = user
            .act(|| TestPeer::before_hello(bus.address(), ReceivedDescriptors::Unwanted).hello());
        assert_eq!(error.error_name(), "LimitsExceeded", "{user:?}");
    }
    let [first, ..] = mine;
    let [other, ..] = theirs;
    assert_eq!((rules(first), rules(other)), (2, 5));
    bus.stop();
}

/// Other buses read the same file and ignore settings that are not for them.
fn other_buses_ignore_settings_of_this_one() {
    let settings = "<limit name='max_connections_per_second_per_user'>1000</limit>";
    let bus = BusUnderTest::start(&instructed(TestConfig::session(), settings));
    assert!(bus.peer().is_alive());
    bus.stop();
}

/// One user holds all places of connections that have not sent Hello. Its next connections wait,
/// and other users connect. With dbus-daemon, all users wait until auth_timeout.
fn others_can_connect_if_one_user_never_sends_hello() {
    let mut bus = BusUnderTest::start(&open_to_all().limit("max_incomplete_connections", 4));
    let address = bus.address().to_owned();
    let mut silent: Vec<_> =
        RunAs::NOBODY.act(|| (0..20).map(|_| PeerStream::connect(&address)).collect());
    silent.iter_mut().for_each(|stream| stream.write(b"\0AUTH\r\n"));
    let started = Instant::now();
    (0..10).for_each(|_| assert!(bus.peer().is_alive()));
    assert!(started.elapsed() < AT_ONCE, "{:?}", started.elapsed());
    let (served, waiting) = silent.split_at_mut(4);
    assert!(served.iter_mut().all(|stream| stream.read_line().is_some()));
    assert!(waiting.iter_mut().all(|stream| stream.is_silent(Duration::from_millis(10))));
    let log = bus.process().stderr();
    let line =
        "User 65534 has too many connections that have not called Hello: new connections wait";
    assert_eq!(log.matches(line).count(), 1, "{log}");
    silent.drain(..4);
    assert!(silent[0].read_line().is_some(), "there are places again");
    bus.stop();
}
