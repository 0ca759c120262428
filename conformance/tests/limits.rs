//! Every limit of the configuration, and recipients that do not read.
//!
//! The peer that exceeds a limit gets an error or, if a reply is not possible, is disconnected.
//! Other peers do not notice.

use std::os::fd::AsFd as _;
use std::time::{Duration, Instant};

use conformance::{
    BusUnderTest, Flavour, PeerStream, PlainMessage, PlainValue, ReceivedDescriptors,
    ScratchFolder, TestConfig, TestPeer, check_all, eventually, field, flag, kind,
};

/// A limit on the resources of one client: `value` of them are allowed, one more is not.
struct PerClient {
    limit: &'static str,
    value: u64,
    /// The n-th request for the resource.
    ask: fn(&TestPeer, u64) -> PlainMessage,
}

#[rustfmt::skip]
const PER_CLIENT: &[PerClient] = &[
    // The unique name counts for this limit.
    PerClient { limit: "max_names_per_connection", value: 3, ask: |_, n| PlainMessage::asking("RequestName", &format!("com.example.N{n}")).arg(PlainValue::U32(0)) },
    PerClient { limit: "max_match_rules_per_connection", value: 3, ask: |_, n| PlainMessage::asking("AddMatch", &format!("member='M{n}'")) },
];

#[test]
fn limits_per_client() {
    check_all(
        PER_CLIENT,
        |row| row.limit.to_owned(),
        |row| {
            let bus = BusUnderTest::start(&TestConfig::session().limit(row.limit, row.value));
            let [mut greedy, mut other] = [bus.peer(), bus.peer()];
            let mut granted = 0;
            let error = loop {
                let message = (row.ask)(&greedy, granted);
                let reply = greedy.call(message);
                if reply.kind == kind::ERROR {
                    break reply;
                }
                granted += 1;
                assert!(granted <= row.value, "there is a limit");
            };
            assert_eq!(error.error_name(), "LimitsExceeded", "{}", error.summary());
            let unique = u64::from(row.limit == "max_names_per_connection");
            assert_eq!(granted, row.value - unique);
            let message = (row.ask)(&other, 100);
            assert_eq!(other.call(message).kind, kind::RETURN, "the limit is of one client");
            bus.stop();
        },
    );
}

#[test]
fn max_replies_per_connection() {
    let bus = BusUnderTest::start(&TestConfig::session().limit("max_replies_per_connection", 3));
    let [mut caller, mut callee, mut other] = [(); 3].map(|()| bus.peer());
    for _ in 0..3 {
        caller.send(PlainMessage::some_call(callee.name()));
    }
    let reply = caller.call(PlainMessage::some_call(callee.name()));
    assert_eq!(reply.error_name(), "LimitsExceeded", "{}", reply.summary());
    caller.send(PlainMessage::some_call(callee.name()).flags(flag::NO_REPLY_EXPECTED));
    other.send(PlainMessage::some_call(callee.name()));
    assert!(caller.is_alive() && other.is_alive());
    let got = callee.collect();
    assert_eq!(got.len(), 5, "three, the one that wants no reply, and the other's");
    callee.send(PlainMessage::reply(&got[0]));
    assert!(callee.is_alive());
    caller.send(PlainMessage::some_call(callee.name()));
    assert!(caller.is_alive());
    assert_eq!(callee.collect().len(), 1, "an answer makes room");
    bus.stop();
}

/// Limits on the number of clients: Hello is refused, and a disconnect makes room.
#[test]
fn hello_is_refused_over_the_limits_of_connections() {
    for limit in ["max_completed_connections", "max_connections_per_user"] {
        let bus = BusUnderTest::start(&TestConfig::session().limit(limit, 3));
        let mut peers = vec![bus.peer(), bus.peer(), bus.peer()];
        let mut late = TestPeer::before_hello(bus.address(), ReceivedDescriptors::Unwanted);
        let reply = late.hello();
        assert_eq!(reply.error_name(), "LimitsExceeded", "{limit}: {}", reply.summary());
        drop(late);
        drop(peers.pop());
        eventually("room for another", || {
            let mut late = TestPeer::before_hello(bus.address(), ReceivedDescriptors::Unwanted);
            (late.hello().kind == kind::RETURN).then_some(())
        });
        assert!(peers.iter_mut().all(TestPeer::is_alive));
        bus.stop();
    }
}

/// Clients that have not sent Hello: further connections wait until one of them sends it or
/// disconnects.
#[test]
fn max_incomplete_connections() {
    let bus = BusUnderTest::start(&TestConfig::session().limit("max_incomplete_connections", 2));
    let mut full = bus.peer();
    let mut half = [PeerStream::connect(bus.address()), PeerStream::connect(bus.address())];
    for stream in &mut half {
        stream.write(b"\0");
        assert!(stream.say("AUTH").is_some(), "these are served");
    }
    let mut waiting = PeerStream::connect(bus.address());
    waiting.write(b"\0AUTH\r\n");
    assert!(waiting.is_silent(Duration::from_millis(100)), "this one waits");
    assert!(full.is_alive());
    drop(half);
    assert!(waiting.read_line().is_some_and(|line| line.starts_with("REJECTED")));
    drop(waiting);
    assert!(bus.peer().is_alive());
    bus.stop();
}

/// A connection that does not finish the handshake, including Hello, in time is disconnected.
#[test]
fn auth_timeout_disconnects_unfinished_handshakes() {
    let time = Duration::from_millis(300);
    let bus = BusUnderTest::start(&TestConfig::session().limit("auth_timeout", 300));
    let mut full = bus.peer();
    for part in ["", "\0", "\0AUTH\r\n"] {
        let started = Instant::now();
        let mut stream = PeerStream::connect(bus.address());
        stream.write(part.as_bytes());
        assert!(stream.is_closed(), "{part:?}");
        assert!(started.elapsed() >= time - Duration::from_millis(50), "not before its time");
    }
    let mut silent = TestPeer::before_hello(bus.address(), ReceivedDescriptors::Unwanted);
    assert_eq!(silent.until_closed().len(), 0, "no Hello");
    assert!(full.is_alive(), "a connection after Hello may stay silent");
    bus.stop();
}

#[test]
fn reply_timeout() {
    let bus = BusUnderTest::start(&TestConfig::session().limit("reply_timeout", 300));
    let [mut caller, mut callee] = [bus.peer(), bus.peer()];
    let started = Instant::now();
    let reply = caller.call(PlainMessage::some_call(callee.name()));
    assert_eq!(reply.error_name(), "NoReply", "{}", reply.summary());
    assert!(started.elapsed() >= Duration::from_millis(250), "not before its time");
    assert!(callee.is_alive());
    bus.stop();
}

/// A timeout of zero means no timeout here, not an immediate one.
#[test]
fn reply_timeout_of_zero_means_no_timeout() {
    let bus = BusUnderTest::start(&TestConfig::session().limit("reply_timeout", 0));
    let [mut caller, mut callee] = [bus.peer(), bus.peer()];
    let serial = caller.send(PlainMessage::some_call(callee.name()));
    assert!(caller.receive_within(Duration::from_millis(200)).is_none());
    let found = callee.receive().expect("open");
    callee.send(PlainMessage::reply(&found));
    assert_eq!(caller.receive().and_then(|reply| reply.reply_serial()), Some(serial));
    bus.stop();
}

/// The size of a message is known from its first bytes, so the sender need not send all of it.
#[test]
fn max_message_size_disconnects_the_sender() {
    let bus = BusUnderTest::start(&TestConfig::session().limit("max_message_size", 10_000));
    let mut recipient = bus.peer();
    let sized = |size: usize, peer: &mut TestPeer| {
        let empty = PlainMessage::some_call(recipient.name())
            .flags(flag::NO_REPLY_EXPECTED)
            .arg(PlainValue::text(""));
        let text = "x".repeat(size - empty.encode().len());
        let mut message = empty;
        message.body = vec![PlainValue::text(&text)];
        peer.numbered(message).encode()
    };
    let [mut fine, mut greedy] = [bus.peer(), bus.peer()];
    let bytes = sized(9_000, &mut fine);
    fine.send_bytes(&bytes);
    assert!(fine.is_alive());
    let bytes = sized(11_000, &mut greedy);
    greedy.send_bytes(&bytes[..1_000]);
    assert_eq!(greedy.until_closed().len(), 0);
    assert_eq!(recipient.collect().len(), 1);
    bus.stop();
}

#[test]
fn max_message_unix_fds() {
    let bus = BusUnderTest::start(&TestConfig::session().limit("max_message_unix_fds", 2));
    let mut recipient = bus.peer();
    let file = std::fs::File::open("/dev/null").expect("it exists");
    for (count, fine) in [(2, true), (3, false)] {
        let mut sender = bus.peer();
        let message = PlainMessage::some_call(recipient.name())
            .field(field::UNIX_FDS, PlainValue::U32(count));
        let bytes = sender.numbered(message).encode();
        sender.send_with_descriptors(&bytes, &vec![file.as_fd(); count as usize]);
        assert_eq!(sender.is_alive(), fine, "{count} descriptors");
    }
    assert_eq!(recipient.collect().len(), 1);
    bus.stop();
}

/// One message may exceed the whole limit: the limit pauses reading, it does not refuse messages.
#[test]
fn max_incoming_bytes_pauses_reading() {
    let bus = BusUnderTest::start(&TestConfig::session().limit("max_incoming_bytes", 1_000));
    let [mut sender, mut recipient] = [bus.peer(), bus.peer()];
    let message = PlainMessage::some_call(recipient.name()).flags(flag::NO_REPLY_EXPECTED);
    let large = message.arg(PlainValue::text(&"x".repeat(50_000)));
    for _ in 0..3 {
        sender.send(large.clone());
        assert_eq!(recipient.receive().map(|found| found.body), Some(large.body.clone()));
    }
    bus.stop();
}

const MESSAGE: usize = 10_000;

/// A bus with small queues for recipients that do not read, and a body that fills them quickly.
fn narrow_bus() -> (BusUnderTest, PlainValue) {
    let bus = BusUnderTest::start(&TestConfig::session().limit("max_outgoing_bytes", 50_000));
    (bus, PlainValue::text(&"x".repeat(MESSAGE)))
}

/// Calls to a recipient that does not read: when its queue is full, each call fails with an error
/// to its sender. Accepted calls arrive in order when the recipient reads at last; no peer is
/// disconnected.
#[test]
fn calls_fail_when_the_queue_of_a_recipient_is_full() {
    let (bus, body) = narrow_bus();
    let [mut sender, mut sleeper, mut other] = [(); 3].map(|()| bus.peer());
    let mut taken = Vec::new();
    let refused = loop {
        let serial = sender.send(PlainMessage::some_call(sleeper.name()).arg(body.clone()));
        let early = sender.collect();
        if let Some(error) = early.into_iter().find(|found| found.kind == kind::ERROR) {
            assert_eq!(error.reply_serial(), Some(serial));
            break error;
        }
        taken.push(serial);
        assert!(taken.len() < 1_000, "there is a limit");
    };
    assert_eq!(refused.error_name(), "LimitsExceeded", "{}", refused.summary());
    assert!(taken.len() * MESSAGE > 50_000, "the limit is not undercut");
    other.send(PlainMessage::some_call(sender.name()).flags(flag::NO_REPLY_EXPECTED));
    assert!(other.is_alive());
    assert_eq!(sender.collect().len(), 1, "others are not held up");

    let got = taken.iter().map_while(|_| sleeper.receive());
    assert_eq!(got.map(|found| found.serial).collect::<Vec<_>>(), taken);
    sender.send(PlainMessage::some_call(sleeper.name()).arg(body));
    assert!(sender.is_alive());
    assert_eq!(sleeper.collect().len(), 1, "there is room again, and the refused one is gone");
    bus.stop();
}

/// Broadcast signals: a recipient that does not read loses some, the others lose none, and the
/// sender gets no error.
#[test]
fn signals_are_dropped_when_the_queue_of_a_recipient_is_full() {
    let (bus, body) = narrow_bus();
    let [mut sender, mut sleeper, mut reader] = [(); 3].map(|()| bus.peer());
    for peer in [&mut sleeper, &mut reader] {
        peer.add_match("member='Signal'");
    }
    let mut sent = Vec::new();
    for _ in 0..100 {
        sent.push(sender.send(PlainMessage::some_signal().arg(body.clone())));
        assert_eq!(sender.collect().len(), 0, "no error");
        assert_eq!(reader.receive().map(|found| found.serial), sent.last().copied());
    }
    let got: Vec<_> = sleeper.drain().iter().map(|found| found.serial).collect();
    assert!(got.len() < sent.len(), "some are lost");
    assert!(got.len() * MESSAGE > 50_000, "the limit is not undercut");
    assert_eq!(got, sent[..got.len()], "the first ones are there, in order");
    sender.send(PlainMessage::some_signal());
    assert!(sender.is_alive());
    assert_eq!(sleeper.collect().len(), 1, "there is room again");
    bus.stop();
}

/// A continuous flood does not delay other peers: the bus reads the flooding client only as fast as
/// its messages are delivered.
#[test]
fn a_flood_does_not_delay_other_peers() {
    let (bus, body) = narrow_bus();
    let [mut flooder, mut sleeper, mut other] = [(); 3].map(|()| bus.peer());
    sleeper.add_match("member='Signal'");
    let bytes = flooder.numbered(PlainMessage::some_signal().arg(body)).encode();
    std::thread::scope(|scope| {
        scope.spawn(|| (0..2_000).for_each(|_| flooder.send_bytes(&bytes)));
        for _ in 0..20 {
            let started = Instant::now();
            assert!(other.is_alive());
            assert!(started.elapsed() < Duration::from_secs(2), "the other one is answered");
        }
    });
    assert!(flooder.is_alive());
    assert!(!sleeper.drain().is_empty());
    assert!(sleeper.is_alive());
    bus.stop();
}

/// Descriptors in the queue of a recipient are limited too.
#[test]
fn max_outgoing_unix_fds() {
    let config = TestConfig::session().limit("max_outgoing_unix_fds", 4);
    let bus = BusUnderTest::start(&config.limit("max_outgoing_bytes", 1_000_000));
    let [mut sender, sleeper] = [bus.peer(), bus.peer()];
    let file = std::fs::File::open("/dev/null").expect("it exists");
    // Fills the socket, so that the rest waits in the queue of the bus.
    let large = PlainValue::text(&"x".repeat(100_000));
    for _ in 0..5 {
        sender.send(
            PlainMessage::some_call(sleeper.name())
                .flags(flag::NO_REPLY_EXPECTED)
                .arg(large.clone()),
        );
        assert!(sender.is_alive());
    }
    let mut error = None;
    for _ in 0..10 {
        let message = PlainMessage::some_call(sleeper.name())
            .field(field::UNIX_FDS, PlainValue::U32(1))
            .arg(PlainValue::Fd(0));
        let bytes = sender.numbered(message).encode();
        sender.send_with_descriptors(&bytes, &[file.as_fd()]);
        let errors = sender.collect().into_iter().find(|found| found.kind == kind::ERROR);
        error = error.or(errors);
    }
    assert_eq!(error.as_ref().map(PlainMessage::error_name), Some("LimitsExceeded"));
    bus.stop();
}

/// A sender with this many descriptors in the queue of a recipient is not read until the recipient
/// reads them or counts as lagging. With dbus-daemon it is not read until the recipient reads them.
#[test]
fn max_incoming_unix_fds() {
    let bus = BusUnderTest::start(&TestConfig::session().limit("max_incoming_unix_fds", 4));
    let [mut sender, mut sleeper, mut other] = [(); 3].map(|()| bus.peer());
    let large = PlainValue::text(&"x".repeat(100_000));
    let started = Instant::now();
    for _ in 0..5 {
        sender.send(
            PlainMessage::some_call(sleeper.name())
                .flags(flag::NO_REPLY_EXPECTED)
                .arg(large.clone()),
        );
    }
    // The bus does not throttle senders to a recipient whose socket was empty a moment ago. This waits
    // until that time is over.
    std::thread::sleep(Duration::from_millis(10));
    let file = std::fs::File::open("/dev/null").expect("it exists");
    for _ in 0..8 {
        let message = PlainMessage::some_call(sleeper.name())
            .flags(flag::NO_REPLY_EXPECTED)
            .field(field::UNIX_FDS, PlainValue::U32(1));
        let bytes = sender.numbered(message).encode();
        sender.send_with_descriptors(&bytes, &[file.as_fd()]);
    }
    let asked = sender.send(PlainMessage::to_bus("GetId"));
    if Flavour::under_test() == Flavour::Reference {
        assert!(sender.receive_within(Duration::from_millis(200)).is_none(), "it is not read");
    } else {
        assert_eq!(sender.receive().and_then(|reply| reply.reply_serial()), Some(asked));
        assert!(started.elapsed() > Duration::from_millis(45), "it is not read at first");
    }
    assert!(other.is_alive());
    assert_eq!(sleeper.drain().len(), 13, "no message is lost");
    if Flavour::under_test() == Flavour::Reference {
        assert_eq!(sender.receive().and_then(|reply| reply.reply_serial()), Some(asked));
    }
    bus.stop();
}

/// A folder with services that start and never take their names.
fn slow_services() -> ScratchFolder {
    let folder = ScratchFolder::new();
    for letter in ["A", "B", "C"] {
        let name = format!("com.example.Slow{letter}");
        let text = format!("[D-BUS Service]\nName={name}\nExec=/bin/sleep 30\n");
        folder.file(&format!("{name}.service"), &text);
    }
    folder
}

fn with_services(folder: &ScratchFolder) -> TestConfig {
    let folder = folder.path().display();
    TestConfig::session().element(&format!("<servicedir>{folder}</servicedir>"))
}

#[test]
fn service_start_timeout() {
    let folder = slow_services();
    let bus = BusUnderTest::start(&with_services(&folder).limit("service_start_timeout", 300));
    let mut peer = bus.peer();
    let start =
        || PlainMessage::asking("StartServiceByName", "com.example.SlowA").arg(PlainValue::U32(0));
    let by_call = PlainMessage::call("com.example.SlowB", "/x", "com.example.I", "Method");
    for message in [start(), by_call] {
        let started = Instant::now();
        let reply = peer.call(message);
        assert_eq!(reply.error_name(), "TimedOut", "{}", reply.summary());
        assert!(started.elapsed() >= Duration::from_millis(250), "not before its time");
    }
    bus.stop();
}

#[test]
fn max_pending_service_starts() {
    let folder = slow_services();
    let config = with_services(&folder).limit("service_start_timeout", 500);
    let bus = BusUnderTest::start(&config.limit("max_pending_service_starts", 2));
    let mut peer = bus.peer();
    let start = |letter| {
        PlainMessage::asking("StartServiceByName", &format!("com.example.Slow{letter}"))
            .arg(PlainValue::U32(0))
    };
    let pending = [peer.send(start('A')), peer.send(start('B'))];
    let reply = peer.call(start('C'));
    assert_eq!(reply.error_name(), "LimitsExceeded", "{}", reply.summary());
    for serial in pending {
        let reply = peer.receive().expect("open");
        assert_eq!((reply.error_name(), reply.reply_serial()), ("TimedOut", Some(serial)));
    }
    bus.stop();
}
