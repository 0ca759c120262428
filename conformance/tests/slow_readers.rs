//! Recipients that read slowly, in bursts, or never: a service that replies to them still replies
//! to others quickly, and no other peer is disconnected or loses a message.
//!
//! With `DILIGENCE_FAULTS=long` each case runs for 12 s, with the limits of a system bus, and
//! prints the row of docs/reliability.md.

use std::fs;
use std::io::Read as _;
use std::os::fd::AsFd as _;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use conformance::{
    BusUnderTest, ExternalProgram, Flavour, PeerStream, PlainMessage, PlainValue, RunAs,
    ScratchFolder, TestConfig, TestPeer, copy_bus, diligence, eventually, field, flag, kind, note,
    root, run_tests, statistics, test_case,
};

fn main() -> ExitCode {
    run_tests([
        test_case!(slow_readers_do_not_delay_calls_of_others).requires(root()),
        test_case!(unread_descriptors_of_one_user_leave_room_for_others).requires(root()),
        test_case!(descriptors_in_sockets_that_the_bus_has_closed_are_counted).requires(root()),
        test_case!(unread_ends_of_lanes_count_against_their_user)
            .requires(root())
            .requires(diligence()),
        test_case!(a_flood_of_one_user_leaves_room_for_calls_of_others).requires(root()),
        test_case!(peers_stay_connected_if_the_kernel_accepts_no_descriptors)
            .requires(root())
            .requires(diligence()),
        test_case!(a_connection_kept_open_by_its_own_descriptor_is_disconnected)
            .requires(diligence()),
        test_case!(a_flood_of_broadcasts_waits_for_its_recipients).requires(diligence()),
    ])
}

/// How the connections of an attacker read the replies to their calls.
#[derive(Clone, Copy)]
enum ReadPattern {
    /// They read no bytes.
    Nothing,
    /// They read this number of bytes, then pause.
    Some(usize),
    /// They read everything that has arrived, then pause.
    All,
}

/// The messages of a service to slow recipients.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sends {
    /// Replies to 120 calls of each connection.
    Replies { bytes: usize, fds: usize },
    /// Signals, for as long as the case lasts.
    Signals { bytes: usize },
}

/// Slow recipients of a service, while other clients call the same service.
struct SlowReaderCase {
    name: &'static str,
    connections: usize,
    users: &'static [RunAs],
    sends: Sends,
    reads: ReadPattern,
}

const OTHER: RunAs = RunAs { uid: 65533, gid: 65533 };
const REPLIES: Sends = Sends::Replies { bytes: 100_000, fds: 0 };

const CASES: [SlowReaderCase; 9] = [
    SlowReaderCase {
        name: "4 connections that trickle",
        connections: 4,
        users: &[RunAs::NOBODY],
        sends: REPLIES,
        reads: ReadPattern::Some(220_000),
    },
    SlowReaderCase {
        name: "8 connections that trickle",
        connections: 8,
        users: &[RunAs::NOBODY],
        sends: REPLIES,
        reads: ReadPattern::Some(220_000),
    },
    SlowReaderCase {
        name: "14 connections of two users that trickle",
        connections: 14,
        users: &[RunAs::NOBODY, OTHER],
        sends: REPLIES,
        reads: ReadPattern::Some(220_000),
    },
    SlowReaderCase {
        name: "2 connections that read in bursts",
        connections: 2,
        users: &[RunAs::NOBODY],
        sends: REPLIES,
        reads: ReadPattern::All,
    },
    SlowReaderCase {
        name: "4 connections that read nothing",
        connections: 4,
        users: &[RunAs::NOBODY],
        sends: REPLIES,
        reads: ReadPattern::Nothing,
    },
    SlowReaderCase {
        name: "24 connections that read nothing",
        connections: 24,
        users: &[RunAs::NOBODY],
        sends: REPLIES,
        reads: ReadPattern::Nothing,
    },
    SlowReaderCase {
        name: "4 connections that trickle replies with descriptors",
        connections: 4,
        users: &[RunAs::NOBODY],
        sends: Sends::Replies { bytes: 1_000, fds: 16 },
        reads: ReadPattern::Some(2_000),
    },
    SlowReaderCase {
        name: "4 connections that trickle signals",
        connections: 4,
        users: &[RunAs::NOBODY],
        sends: Sends::Signals { bytes: 20_000 },
        reads: ReadPattern::Some(220_000),
    },
    SlowReaderCase {
        name: "4 connections that read no signals",
        connections: 4,
        users: &[RunAs::NOBODY],
        sends: Sends::Signals { bytes: 20_000 },
        reads: ReadPattern::Nothing,
    },
];

const CALLS: u32 = 120;
const PAUSE: Duration = Duration::from_millis(450);

/// Longer than any reply takes on a busy machine, and shorter than any wait for another peer.
const AT_ONCE: Duration = Duration::from_secs(1);

/// True if `DILIGENCE_CASE` is part of the name of a case, or not set.
fn is_chosen(case: &&SlowReaderCase) -> bool {
    std::env::var("DILIGENCE_CASE").map_or(true, |part| case.name.contains(&part))
}

fn is_long() -> bool {
    std::env::var("DILIGENCE_FAULTS").is_ok_and(|value| value == "long")
}

/// The limits of a system bus, which allow each connection 127 MiB, and 64 descriptors.
fn system_limits() -> TestConfig {
    TestConfig::session()
        .policy("context='default'", "<allow user='*'/>")
        .limit("max_outgoing_bytes", 127 << 20)
        .limit("max_incoming_bytes", 127 << 20)
        .limit("max_outgoing_unix_fds", 64)
        .limit("max_incoming_unix_fds", 64)
}

fn slow_readers_do_not_delay_calls_of_others() {
    for case in CASES.iter().filter(is_chosen) {
        let bus = BusUnderTest::start(&system_limits());
        let mut times = time_calls_during(&bus, case);
        times.sort_unstable();
        let at = |part: usize| times[(times.len() - 1) * part / 100];
        let (median, p99, max) = (at(50), at(99), at(100));
        note(&format!(
            "| {} | {} calls | {median:.1?} | {p99:.1?} | {max:.1?} |",
            case.name,
            times.len()
        ));
        if Flavour::under_test() == Flavour::Diligence {
            assert!(max < AT_ONCE, "{}: a call took {max:?}", case.name);
        }
        bus.stop();
    }
}

/// Measures the calls of an innocent client while others do what the case describes.
fn time_calls_during(bus: &BusUnderTest, case: &SlowReaderCase) -> Vec<Duration> {
    let mut service = bus.peer();
    let name = service.name().to_owned();
    let mut innocent = bus.peer();
    let attackers: Vec<TestPeer> = (0..case.connections)
        .map(|index| case.users[index % case.users.len()].act(|| bus.peer()))
        .collect();
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| serve(&mut service, case.sends, &is_over));
        for attacker in attackers {
            scope.spawn(|| attack(attacker, &name, case, &is_over));
        }
        // The measurement starts when the slow readers have caused a backlog.
        thread::sleep(Duration::from_millis(300));
        let ends = Instant::now() + Duration::from_secs(if is_long() { 12 } else { 2 });
        let mut times = Vec::new();
        while Instant::now() < ends {
            let started = Instant::now();
            let reply = innocent.call(PlainMessage::call(&name, "/", "org.example.I", "Small"));
            assert_eq!(reply.kind, kind::RETURN, "{}", case.name);
            times.push(started.elapsed());
            // The caller is an ordinary client, which does not add to the load.
            thread::sleep(Duration::from_millis(2));
        }
        is_over.store(true, Ordering::Relaxed);
        times
    })
}

/// A service with one thread, as most are.
fn serve(service: &mut TestPeer, sends: Sends, is_over: &AtomicBool) {
    let null = fs::File::open("/dev/null").expect("it exists");
    while !is_over.load(Ordering::Relaxed) {
        if let Sends::Signals { bytes } = sends {
            let body = PlainValue::text(&"x".repeat(bytes));
            let signal = PlainMessage::signal("/", "org.example.I", "Signal").arg(body);
            let signal = service.numbered(signal).encode();
            service.send_bytes(&signal);
        }
        let wait = match sends {
            Sends::Replies { .. } => Duration::from_millis(100),
            Sends::Signals { .. } => Duration::from_micros(200),
        };
        while let Some(call) = service.receive_within(wait) {
            match (call.member(), sends) {
                ("Small", _) => {
                    service.send(PlainMessage::reply(&call));
                }
                ("Bulk", Sends::Replies { bytes, fds: 0 }) => {
                    let body = PlainValue::text(&"x".repeat(bytes));
                    service.send(PlainMessage::reply(&call).arg(body));
                }
                ("Bulk", Sends::Replies { bytes, fds }) => {
                    let body = PlainValue::text(&"x".repeat(bytes));
                    let count = PlainValue::U32(fds as u32);
                    let reply = PlainMessage::reply(&call).arg(body).field(field::UNIX_FDS, count);
                    let reply = service.numbered(reply).encode();
                    service.send_with_descriptors(&reply, &vec![null.as_fd(); fds]);
                }
                _ => {}
            }
            if matches!(sends, Sends::Signals { .. }) || is_over.load(Ordering::Relaxed) {
                break;
            }
        }
    }
}

fn attack(mut attacker: TestPeer, service: &str, case: &SlowReaderCase, is_over: &AtomicBool) {
    match case.sends {
        Sends::Replies { .. } => {
            for _ in 0..CALLS {
                attacker.send(PlainMessage::call(service, "/", "org.example.I", "Bulk"));
            }
        }
        Sends::Signals { .. } => attacker.add_match("type='signal',interface='org.example.I'"),
    }
    let PeerStream::Unix(stream) = attacker.stream() else { panic!("the bus is local") };
    stream.set_nonblocking(true).expect("it is a socket");
    let mut buffer = vec![0; 256 << 10];
    while !is_over.load(Ordering::Relaxed) {
        let mut left = match case.reads {
            ReadPattern::Nothing => 0,
            ReadPattern::Some(bytes) => bytes,
            ReadPattern::All => usize::MAX,
        };
        while left > 0 {
            let most = left.min(buffer.len());
            match stream.read(&mut buffer[..most]) {
                Ok(count) if count > 0 => left -= count,
                _ => break,
            }
        }
        thread::sleep(PAUSE);
    }
}

/// A bus of another user with a low limit of descriptors.
fn bus_with_descriptors(count: u32, scratch: &ScratchFolder) -> BusUnderTest {
    conformance::set_mode(scratch.path(), 0o755);
    let config = TestConfig::session().policy("context='default'", "<allow user='*'/>");
    BusUnderTest::start_with(&config, |_| {
        ExternalProgram::named("prlimit", "util-linux")
            .arg(format!("--nofile={count}"))
            .user(RunAs::NOBODY)
            .arg(copy_bus(scratch))
    })
}

/// Sends a signal with descriptors to one connection.
fn send_descriptors(sender: &mut TestPeer, to: &str, count: u32) {
    let null = fs::File::open("/dev/null").expect("it exists");
    let message = PlainMessage::some_call(to).flags(flag::NO_REPLY_EXPECTED);
    let message = message.field(field::UNIX_FDS, PlainValue::U32(count));
    let bytes = sender.numbered(message).encode();
    sender.send_with_descriptors(&bytes, &vec![null.as_fd(); count as usize]);
}

/// Unread descriptors accumulate in the sockets of one user. Other users still pass descriptors.
fn unread_descriptors_of_one_user_leave_room_for_others() {
    let scratch = ScratchFolder::new();
    let bus = bus_with_descriptors(128, &scratch);
    let [mut one, mut other] = [bus.peer(), bus.peer()];
    let (mut flooder, mut sinks) = OTHER.act(|| (bus.peer(), [(); 8].map(|()| bus.peer())));
    for sink in &sinks {
        for _ in 0..4 {
            send_descriptors(&mut flooder, sink.name(), 16);
        }
        assert!(flooder.is_alive());
    }
    for _ in 0..20 {
        send_descriptors(&mut one, other.name(), 4);
        let message = other.receive().expect("it stays connected");
        assert_eq!((message.kind, message.descriptors.len()), (kind::CALL, 4));
    }
    assert!(one.is_alive() && other.is_alive() && sinks.iter_mut().all(TestPeer::is_alive));
    bus.stop();
}

/// A user makes the bus disconnect connections with unread descriptors, and keeps their sockets
/// open, so that the kernel still counts the descriptors.
fn descriptors_in_sockets_that_the_bus_has_closed_are_counted() {
    let scratch = ScratchFolder::new();
    let bus = bus_with_descriptors(128, &scratch);
    let [mut one, mut other] = [bus.peer(), bus.peer()];
    let mut flooder = OTHER.act(|| bus.peer());
    let mut sinks = Vec::new();
    for _ in 0..16 {
        let mut sink = OTHER.act(|| bus.peer());
        send_descriptors(&mut flooder, sink.name(), 16);
        assert!(flooder.is_alive());
        sink.send_bytes(b"these bytes are not a message");
        sinks.push(sink);
    }
    for _ in 0..20 {
        send_descriptors(&mut one, other.name(), 4);
        let message = other.receive().expect("it stays connected");
        assert_eq!((message.kind, message.descriptors.len()), (kind::CALL, 4));
    }
    // Descriptors that the peers receive or close no longer count.
    drop(sinks);
    let connect_sink = |flooder: &mut TestPeer| {
        let sink = OTHER.act(|| bus.peer());
        send_descriptors(flooder, sink.name(), 16);
        sink
    };
    eventually("the bus to deliver descriptors again", || {
        connect_sink(&mut flooder).receive_within(Duration::from_millis(200)).map(drop)
    });
    let mut sink = connect_sink(&mut flooder);
    assert_eq!(sink.receive().expect("it is connected").descriptors.len(), 16);
    assert!(one.is_alive() && other.is_alive() && flooder.is_alive());
    bus.stop();
}

/// Two connections of one user open and end lanes, and one of them does not read its ends, of four
/// descriptors each. Other users still connect and pass descriptors.
fn unread_ends_of_lanes_count_against_their_user() {
    const ROUNDS: usize = 60;
    let scratch = ScratchFolder::new();
    let mut bus = bus_with_descriptors(128, &scratch);
    let (mut reader, mut sink) = OTHER.act(|| (bus.peer(), bus.peer()));
    let (of_reader, of_sink) = (reader.name().to_owned(), sink.name().to_owned());
    let mut opened = 0;
    let mut send_unread = |message: PlainMessage, reader: &mut TestPeer| {
        sink.send(message.flags(flag::NO_REPLY_EXPECTED));
        sink.send(PlainMessage::some_call(&of_reader).flags(flag::NO_REPLY_EXPECTED));
        let mut before = Vec::new();
        loop {
            match reader.receive().expect("it stays connected") {
                message if message.kind == kind::CALL => return before,
                message => before.push(message),
            }
        }
    };
    for _ in 0..ROUNDS {
        reader.call(about_lane("Request", &of_sink));
        let before = send_unread(about_lane("Request", &of_reader), &mut reader);
        opened += before.iter().filter(|message| message.member() == "Opened").count();
        reader.call(about_lane("Release", &of_sink));
        let resume =
            |name| about_lane("Resume", name).arg(PlainValue::Array("u".to_owned(), Vec::new()));
        reader.call(resume(&of_sink));
        send_unread(resume(&of_reader), &mut reader);
    }
    assert!((1..ROUNDS).contains(&opened), "{opened} lanes were opened");
    let [mut one, mut other] = [bus.peer(), bus.peer()];
    for _ in 0..20 {
        send_descriptors(&mut one, other.name(), 4);
        let message = other.receive().expect("it stays connected");
        assert_eq!((message.kind, message.descriptors.len()), (kind::CALL, 4));
    }
    let log = bus.process().stderr();
    assert!(log.contains("too many descriptors of the user wait in the bus"), "{log}");
    bus.stop();
}

fn about_lane(method: &str, partner: &str) -> PlainMessage {
    let call = PlainMessage::to_bus(method).text(field::INTERFACE, "org.diligence.Lanes1");
    call.arg(PlainValue::text(partner))
}

/// A user fills the queue of a service over many connections. There is room for calls of other
/// users.
fn a_flood_of_one_user_leaves_room_for_calls_of_others() {
    let bus = BusUnderTest::start(&system_limits().limit("max_outgoing_bytes", 8 << 20));
    let mut service = bus.peer();
    let name = service.name().to_owned();
    let mut innocent = bus.peer();
    let flooders: Vec<TestPeer> = (0..8).map(|_| OTHER.act(|| bus.peer())).collect();
    thread::scope(|scope| {
        for mut flooder in flooders {
            let name = &name;
            scope.spawn(move || {
                let body = PlainValue::text(&"x".repeat(100_000));
                for _ in 0..40 {
                    let call = PlainMessage::call(name, "/", "org.example.I", "Flood");
                    flooder.send(call.flags(flag::NO_REPLY_EXPECTED).arg(body.clone()));
                }
                assert!(flooder.is_alive());
            });
        }
    });
    for _ in 0..20 {
        innocent.send(PlainMessage::call(&name, "/", "org.example.I", "Small"));
    }
    let mut answered = 0;
    while answered < 20 {
        let call = service.receive().expect("it stays connected");
        if call.member() == "Small" {
            service.send(PlainMessage::reply(&call));
            let reply = innocent.receive().expect("it stays connected");
            assert_eq!(reply.kind, kind::RETURN, "{}", reply.error_name());
            answered += 1;
        }
    }
    bus.stop();
}

/// A process without a connection fills the kernel's quota of descriptors for the user of the bus.
/// Then the kernel accepts no descriptors from the bus. Callers get an error and stay connected.
fn peers_stay_connected_if_the_kernel_accepts_no_descriptors() {
    let scratch = ScratchFolder::new();
    let mut bus = bus_with_descriptors(64, &scratch);
    let [mut caller, mut callee] = [bus.peer(), bus.peer()];
    let mut hoard = ExternalProgram::python(HOARD).user(RunAs::NOBODY).start();
    hoard.wait_for_stdout("full");

    let null = fs::File::open("/dev/null").expect("it exists");
    let call = PlainMessage::some_call(callee.name()).field(field::UNIX_FDS, PlainValue::U32(1));
    let call = caller.numbered(call);
    caller.send_with_descriptors(&call.encode(), &[null.as_fd()]);
    let error = caller.receive().expect("it stays connected");
    assert_eq!((error.error_name(), error.reply_serial()), ("LimitsExceeded", Some(call.serial)));
    assert!(caller.is_alive() && callee.is_alive());

    let call = callee.send(PlainMessage::some_call(caller.name()));
    let found = caller.receive().expect("what has no descriptors is delivered");
    let reply = PlainMessage::reply(&found).field(field::UNIX_FDS, PlainValue::U32(1));
    let reply = caller.numbered(reply).encode();
    caller.send_with_descriptors(&reply, &[null.as_fd()]);
    let error = callee.receive().expect("it stays connected");
    assert_eq!((error.error_name(), error.reply_serial()), ("LimitsExceeded", Some(call)));

    let log = bus.process().stderr();
    let line = "was dropped: too many file descriptors are in sockets whose peers do not read them";
    assert_eq!(log.matches(line).count(), 2, "{log}");
    drop(hoard.terminate());
    bus.stop();
}

/// Sends descriptors to itself until the kernel accepts no more for this user.
const HOARD: &str = "
import array, resource, socket, time
resource.setrlimit(resource.RLIMIT_NOFILE, (1024, 1024))
kept = []
count = 0
while count < 900:
    a, b = socket.socketpair()
    kept.append((a, b))
    fds = array.array('i', [0] * 100)
    try:
        a.sendmsg([b'x'], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, fds)])
    except OSError:
        break
    count += 100
print('full', flush=True)
time.sleep(600)
";

/// Several recipients read broadcasts in portions, each at other times, so that one of them has
/// always just caught up. The bus makes the sender wait instead of filling their queues.
fn a_flood_of_broadcasts_waits_for_its_recipients() {
    let bus = BusUnderTest::session();
    let [mut watcher, mut witness, mut sender] = [(); 3].map(|()| bus.peer());
    let mut recipients: Vec<_> = (0..RECIPIENTS).map(|_| bus.peer()).collect();
    recipients.iter_mut().for_each(|recipient| recipient.add_match("member='Broadcast'"));
    let readers = recipients.into_iter().enumerate().map(|(number, mut recipient)| {
        thread::spawn(move || {
            for count in 0..BROADCASTS {
                if count % PORTION == number * PORTION / RECIPIENTS {
                    thread::sleep(Duration::from_millis(5));
                }
                recipient.receive().expect("no broadcast is lost");
            }
            recipient
        })
    });
    let readers: Vec<_> = readers.collect();
    let body = PlainValue::text(&"x".repeat(1000));
    let broadcast = PlainMessage::signal("/", "com.example.I", "Broadcast").arg(body);
    witness.add_match("member='NameOwnerChanged'");
    for _ in 0..BROADCASTS {
        sender.send(broadcast.clone());
    }
    // What it has sent is still delivered.
    drop(sender);
    let recipients: Vec<_> =
        readers.into_iter().map(|reader| reader.join().expect("a reader")).collect();
    let connections = statistics::dicts(&mut watcher, "GetConnections");
    let peak = |recipient: &TestPeer| {
        let name = Some(&PlainValue::text(recipient.name()));
        let found = connections.iter().find(|dict| dict.get("UniqueName") == name);
        statistics::number(found.expect("it is connected"), "PeakQueuedBytes")
    };
    let peak: u64 = recipients.iter().map(peak).sum();
    note(&format!("peaks of all queues: {peak} bytes"));
    let left = witness.receive().expect("the end of the sender");
    assert_eq!(left.member(), "NameOwnerChanged");
    assert!(peak < QUEUED_MAX, "{peak} bytes were queued");
    bus.stop();
}

const RECIPIENTS: usize = 10;

/// The number of broadcasts, of 1 kB each.
const BROADCASTS: usize = 4000;

/// The number of broadcasts after which a recipient pauses.
const PORTION: usize = 400;

/// The sum of the peaks of all queues. Each of them also contains the messages of one turn, which
/// are written to the socket.
const QUEUED_MAX: u64 = 3 << 20;

/// A connection whose own end is in its own queue, so that it would never close by itself.
fn a_connection_kept_open_by_its_own_descriptor_is_disconnected() {
    let mut bus = BusUnderTest::start(&TestConfig::session().limit("pending_fd_timeout", 500));
    let mut witness = bus.peer();
    witness.add_match("member='NameOwnerChanged'");
    let mut own = bus.peer();
    let name = own.name().to_owned();
    let body = PlainValue::text(&"x".repeat(100_000));
    for _ in 0..10 {
        own.send(PlainMessage::some_call(&name).flags(flag::NO_REPLY_EXPECTED).arg(body.clone()));
    }
    let PeerStream::Unix(stream) = own.stream() else { panic!("the bus is local") };
    let end = stream.try_clone().expect("a descriptor is left");
    let message = PlainMessage::some_call(&name).flags(flag::NO_REPLY_EXPECTED);
    let message = own.numbered(message.field(field::UNIX_FDS, PlainValue::U32(1))).encode();
    own.send_with_descriptors(&message, &[end.as_fd()]);
    drop((own, end));
    let left = |message: &PlainMessage| {
        message.member() == "NameOwnerChanged" && message.first_text() == name
    };
    assert!(left(&witness.receive().expect("the bus is there")), "it came");
    assert!(left(&witness.receive().expect("the bus is there")), "it left");
    let log = bus.process().stderr();
    let line = "file descriptors were queued for it, and it read nothing within pending_fd_timeout";
    assert_eq!(log.matches(line).count(), 1, "{log}");
    bus.stop();
}
