//! Routing: the header field that the bus sets, the recipients, and the replies.

use std::os::fd::AsFd as _;

use rustix::process::Signal;

use conformance::{
    BUS_NAME, BusUnderTest, PlainMessage, PlainValue, TestConfig, TestPeer, WireByteOrder,
    check_all, field, flag, kind,
};

/// A call to a client, by any of its names.
fn call_name(to: &str) -> PlainMessage {
    PlainMessage::call(to, "/com/example/Object", "com.example.Interface", "Method")
}

fn call(to: &TestPeer) -> PlainMessage {
    call_name(to.name())
}

/// Sends a message and returns the message that its recipient gets.
fn deliver(sender: &mut TestPeer, recipient: &mut TestPeer, message: PlainMessage) -> PlainMessage {
    sender.send(message);
    recipient.receive().expect("the recipient is not closed")
}

/// Sends a call to a recipient and returns the message that it gets.
fn deliver_call(sender: &mut TestPeer, recipient: &mut TestPeer) -> PlainMessage {
    let message = call(recipient);
    deliver(sender, recipient, message)
}

/// The bus sets only SENDER; everything else arrives unchanged, in either byte order.
#[test]
fn routing_changes_only_the_sender() {
    let bus = BusUnderTest::session();
    let [mut sender, mut recipient] = [bus.peer(), bus.peer()];
    let inner = PlainValue::Struct(vec![
        PlainValue::Byte(7),
        PlainValue::variant(PlainValue::texts(&["a", "b"])),
    ]);
    let body = [
        PlainValue::Byte(1),
        PlainValue::Bool(true),
        PlainValue::I16(-2),
        PlainValue::U16(3),
        PlainValue::I32(-4),
        PlainValue::U32(5),
        PlainValue::I64(-6),
        PlainValue::U64(7),
        PlainValue::Double(0.5),
        PlainValue::text("text with ünicode"),
        PlainValue::Path("/a/b".into()),
        PlainValue::Signature("a{sv}(ii)".into()),
        PlainValue::Array("(yv)".into(), vec![inner]),
        PlainValue::Array("{sv}".into(), vec![]),
        PlainValue::variant(PlainValue::variant(PlainValue::U64(u64::MAX))),
    ];
    for order in [WireByteOrder::Little, WireByteOrder::Big] {
        let mut message = call(&recipient).order(order);
        message.body = body.to_vec();
        // All known flags, and some unknown ones.
        message.flags = 0b1111_0110;
        message.serial = 0x0102_0304;
        let got = deliver(&mut sender, &mut recipient, message.clone());
        assert_eq!(
            (got.order, got.kind, got.flags, got.serial),
            (order, 1, 0b1111_0110, 0x0102_0304)
        );
        assert_eq!(got.body, message.body);
        let mut fields = message.fields;
        fields.push((field::SIGNATURE, PlainValue::Signature("ybnqiuxtdsoga(yv)a{sv}v".into())));
        fields.push((field::SENDER, PlainValue::text(sender.name())));
        let sorted = |mut fields: Vec<(u8, PlainValue)>| {
            fields.sort_by_key(|(code, _)| *code);
            fields
        };
        assert_eq!(sorted(got.fields), sorted(fields));
        // Replies, so that no call stays pending.
        let reply = PlainMessage::reply(&PlainMessage { serial: got.serial, ..call_name("") });
        recipient.send(reply.text(field::DESTINATION, sender.name()));
        assert_eq!(sender.receive().and_then(|found| found.reply_serial()), Some(0x0102_0304));
    }
    bus.stop();
}

struct Stamp {
    name: &'static str,
    change: fn(PlainMessage) -> PlainMessage,
}

#[rustfmt::skip]
const STAMPS: &[Stamp] = &[
    Stamp { name: "no sender", change: |message| message },
    Stamp { name: "the bus as the sender", change: |message| message.text(field::SENDER, BUS_NAME) },
    Stamp { name: "another client as the sender", change: |message| message.text(field::SENDER, ":1.0") },
    Stamp { name: "a long name as the sender", change: |message| message.text(field::SENDER, &format!("com.{}", "x".repeat(200))) },
    Stamp { name: "an unknown field", change: |message| message.text(100, "unknown") },
    Stamp { name: "an unknown field of a large type", change: |message| message.field(200, PlainValue::texts(&["x"; 100])) },
    Stamp { name: "many unknown fields", change: |message| (11..=99).fold(message, |message, code| message.text(code, "x")) },
    Stamp { name: "the field of container instances", change: |message| message.field(10, PlainValue::Path("/x".into())) },
    Stamp { name: "all together, big-endian", change: |message| message.text(field::SENDER, ":1.0").text(99, "x").order(WireByteOrder::Big) },
];

/// The bus replaces SENDER, and removes fields that the specification does not define.
#[test]
fn the_bus_replaces_the_sender_and_removes_unknown_fields() {
    let bus = BusUnderTest::session();
    check_all(
        STAMPS,
        |row| row.name.to_owned(),
        |row| {
            let [mut sender, mut recipient] = [bus.peer(), bus.peer()];
            recipient.add_match("member='Signal'");
            let body = [PlainValue::text("body"), PlainValue::U64(1)];
            for message in [
                PlainMessage::signal("/x", "com.example.Interface", "Signal"),
                PlainMessage::signal("/x", "com.example.I", "S")
                    .text(field::DESTINATION, recipient.name()),
            ] {
                let message = (row.change)(PlainMessage { body: body.to_vec(), ..message });
                let got = deliver(&mut sender, &mut recipient, message);
                assert_eq!(got.sender(), sender.name());
                let unknown = got.fields.iter().filter(|(code, _)| *code > field::UNIX_FDS);
                assert_eq!(unknown.count(), 0, "{:?}", got.fields);
                let senders = got.fields.iter().filter(|(code, _)| *code == field::SENDER);
                assert_eq!(senders.count(), 1);
                assert_eq!(got.body, body);
            }
        },
    );
    bus.stop();
}

/// A well-known name with an owner can be used as a destination like the unique name.
#[test]
fn messages_to_a_name_reach_its_owner() {
    let bus = BusUnderTest::session();
    let [mut sender, mut owner, mut waiter] = [(); 3].map(|()| bus.peer());
    owner.request_name("com.example.Name", 0);
    waiter.request_name("com.example.Name", 0);
    for flags in [0, flag::NO_AUTO_START] {
        let got = deliver(&mut sender, &mut owner, call_name("com.example.Name").flags(flags));
        assert_eq!(got.get(field::DESTINATION), Some(&PlainValue::text("com.example.Name")));
        let answer = PlainMessage::reply(&got).arg(PlainValue::text("answer"));
        let got = deliver(&mut owner, &mut sender, answer);
        assert_eq!((got.sender(), got.first_text()), (owner.name(), "answer"));
    }
    assert_eq!(waiter.collect().len(), 0, "a client in the queue of the name gets nothing");
    bus.stop();
}

/// If the callee disconnects, the bus replies to its pending calls with an error.
#[test]
fn pending_calls_fail_when_the_callee_disconnects() {
    let bus = BusUnderTest::session();
    let [mut caller, mut callee] = [bus.peer(), bus.peer()];
    let first = caller.send(call(&callee));
    caller.send(call(&callee).flags(flag::NO_REPLY_EXPECTED));
    let last = caller.send(call(&callee));
    assert!((0..3).all(|_| callee.receive().is_some()));
    drop(callee);
    let mut serials = [0; 2].map(|_| {
        let got = caller.receive().expect("open");
        assert_eq!((got.error_name(), got.sender()), ("NoReply", BUS_NAME));
        got.reply_serial()
    });
    // The errors for calls that fail together may arrive in any order.
    serials.sort();
    assert_eq!(serials, [Some(first), Some(last)]);
    assert_eq!(caller.collect().len(), 0);
    bus.stop();
}

/// If the caller disconnects, its pending calls are removed: the reply is dropped without an error.
#[test]
fn replies_to_a_disconnected_caller_are_dropped() {
    let bus = BusUnderTest::session();
    let [mut caller, mut callee] = [bus.peer(), bus.peer()];
    callee.add_match("member='NameOwnerChanged'");
    let got = deliver_call(&mut caller, &mut callee);
    drop(caller);
    assert_eq!(callee.receive().map(|found| found.kind), Some(kind::SIGNAL));
    callee.send(PlainMessage::reply(&got));
    let _ = callee.collect();
    assert!(callee.is_alive());
    bus.stop();
}

/// Two pending calls of one client must have different serials.
#[test]
fn pending_calls_with_the_same_serial_are_refused() {
    let bus = BusUnderTest::session();
    let [mut caller, mut callee] = [bus.peer(), bus.peer()];
    let again = PlainMessage { serial: 1000, ..call(&callee) };
    caller.send(again.clone());
    caller.send(again);
    let got = caller.receive().expect("open");
    assert_eq!((got.error_name(), got.reply_serial()), ("AccessDenied", Some(1000)));
    assert_eq!(callee.collect().len(), 1);
    bus.stop();
}

/// If the policy allows only requested replies, other replies are refused.
#[test]
fn unrequested_replies_are_refused() {
    let config = TestConfig::closed().policy(
        "context='default'",
        "<allow user='*'/><allow send_type='method_call'/><allow send_type='signal'/>\
         <allow send_requested_reply='true' send_type='method_return'/>\
         <allow send_requested_reply='true' send_type='error'/>\
         <allow receive_type='method_call'/><allow receive_type='method_return'/>\
         <allow receive_type='error'/><allow receive_type='signal'/>",
    );
    let bus = BusUnderTest::start(&config);
    let [mut caller, mut callee] = [bus.peer(), bus.peer()];
    let name = callee.name().to_owned();
    let got = deliver_call(&mut caller, &mut callee);
    for round in 0..2 {
        callee.send(PlainMessage::reply(&got).flags(flag::NO_REPLY_EXPECTED));
        let _ = callee.collect();
        assert_eq!(caller.collect().len(), 1 - round, "the first answer counts, and no second");
    }
    let silent = call_name(&name).flags(flag::NO_REPLY_EXPECTED);
    let got = deliver(&mut caller, &mut callee, silent);
    callee.send(PlainMessage::error(&got, "com.example.Error").flags(flag::NO_REPLY_EXPECTED));
    let _ = callee.collect();
    assert_eq!(caller.collect().len(), 0);
    bus.stop();
}

/// A message with an unknown type is refused, and nothing else happens.
#[test]
fn messages_of_unknown_types_are_refused() {
    let bus = BusUnderTest::session();
    let [mut sender, mut other] = [bus.peer(), bus.peer()];
    for kind in [5, 77, 255] {
        let message = PlainMessage { kind, ..call(&other) };
        let serial = sender.send(message);
        let got = sender.receive().expect("open");
        assert_eq!((got.error_name(), got.reply_serial()), ("AccessDenied", Some(serial)));
    }
    assert_eq!(other.collect().len(), 0);
    bus.stop();
}

/// Messages from one sender to one recipient keep their order, whatever their types.
#[test]
fn messages_keep_their_order() {
    let bus = BusUnderTest::session();
    let [mut sender, mut recipient] = [bus.peer(), bus.peer()];
    recipient.add_match("member='Signal'");
    let mut bytes = Vec::new();
    for number in 0..300 {
        let message = match number % 3 {
            0 => PlainMessage::signal("/x", "com.example.I", "Signal"),
            1 => PlainMessage::signal("/x", "com.example.I", "S")
                .text(field::DESTINATION, recipient.name()),
            _ => call(&recipient).flags(flag::NO_REPLY_EXPECTED),
        };
        bytes.extend(sender.numbered(message.arg(PlainValue::U32(number))).encode());
    }
    // The pieces do not end at the boundaries of messages.
    for piece in bytes.chunks(997) {
        sender.send_bytes(piece);
    }
    let got = (0..300).map(|_| recipient.receive().and_then(|found| found.first_u32()));
    assert_eq!(got.flatten().collect::<Vec<_>>(), (0..300).collect::<Vec<_>>());
    bus.stop();
}

/// Large messages arrive complete, and do not delay small ones between other clients.
#[test]
fn large_messages_arrive_complete() {
    let bus = BusUnderTest::session();
    let [mut sender, mut recipient] = [bus.peer(), bus.peer()];
    let name = recipient.name().to_owned();
    for size in [2_047, 2_048, 65_536, 1 << 20, 8 << 20] {
        let text = "x".repeat(size);
        let message = call_name(&name).flags(flag::NO_REPLY_EXPECTED).arg(PlainValue::text(&text));
        let bytes = sender.numbered(message).encode();
        std::thread::scope(|scope| {
            scope.spawn(|| sender.send_bytes(&bytes));
            let got = recipient.receive().expect("open");
            assert!(got.first_text() == text, "{size} bytes arrive as they were");
        });
    }
    bus.stop();
}

/// Messages are delivered even if the sender disconnects while its recipient is slow and the bus
/// does not read from the sender.
#[test]
fn messages_of_a_disconnected_sender_are_delivered() {
    let mut bus =
        BusUnderTest::start(&TestConfig::session().limit("max_incoming_bytes", 128 << 10));
    // The payloads vary the state in which reading pauses: inside a message whose length is known,
    // after small messages, or both.
    for payload in [9000, 40_000, 65_000, 100_000, 140_000, 180_000] {
        leave(&mut bus, payload);
    }
    bus.stop();
}

fn leave(bus: &mut BusUnderTest, payload: usize) {
    let [mut sender, mut recipient] = [bus.peer(), bus.peer()];
    let count = u32::try_from(600_000 / payload).expect("a few");
    let payload = "x".repeat(payload);
    for number in 0..count {
        let message = PlainMessage::signal("/x", "com.example.I", "S");
        let message = message.text(field::DESTINATION, recipient.name());
        sender.send(message.arg(PlainValue::U32(number)).arg(PlainValue::text(&payload)));
    }
    // In its next iteration, the bus shall first see that the recipient has room, and then that the
    // sender has disconnected.
    bus.process().signal(Signal::STOP);
    let mut got = recipient.drain();
    assert!(got.len() < count as usize, "more than fits into a socket");
    drop(sender);
    bus.process().signal(Signal::CONT);
    got.extend(recipient.drain());
    let got: Vec<_> = got.iter().filter_map(PlainMessage::first_u32).collect();
    assert_eq!(got, (0..count).collect::<Vec<_>>(), "of {} bytes", payload.len());
}

/// Descriptors arrive with their message, in their order, and refer to the same files.
#[test]
fn descriptors_arrive_with_their_message() {
    let bus = BusUnderTest::session();
    let [mut sender, mut recipient] = [bus.peer(), bus.peer()];
    let files = ["/dev/null", "/dev/zero", "/etc"]
        .map(|path| std::fs::File::open(path).expect("it exists"));
    for files in [&files[..1], &files[1..], &files[..]] {
        let count = u32::try_from(files.len()).expect("three at most");
        let mut message = call(&recipient)
            .flags(flag::NO_REPLY_EXPECTED)
            .field(field::UNIX_FDS, PlainValue::U32(count));
        message.body = (0..count).map(PlainValue::Fd).collect();
        let bytes = sender.numbered(message).encode();
        let borrowed: Vec<_> = files.iter().map(|file| file.as_fd()).collect();
        sender.send_with_descriptors(&bytes, &borrowed);
        let got = recipient.receive().expect("open");
        let identity = |file: std::os::fd::BorrowedFd<'_>| {
            let link = format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&file));
            std::fs::read_link(link).expect("it is open")
        };
        let arrived: Vec<_> = got.descriptors.iter().map(|fd| identity(fd.as_fd())).collect();
        assert_eq!(arrived, borrowed.into_iter().map(identity).collect::<Vec<_>>());
    }
    bus.stop();
}

/// A client that has not negotiated descriptors gets none: a call to it fails, and a broadcast
/// signal skips it.
#[test]
fn descriptors_are_not_sent_to_clients_without_support() {
    let bus = BusUnderTest::session();
    let [mut sender, mut able] = [bus.peer(), bus.peer()];
    let mut unable = bus.peer_without_descriptors();
    let file = std::fs::File::open("/dev/null").expect("it exists");
    let send = |message: PlainMessage, sender: &mut TestPeer| {
        let message = message.field(field::UNIX_FDS, PlainValue::U32(1)).arg(PlainValue::Fd(0));
        let message = sender.numbered(message);
        sender.send_with_descriptors(&message.encode(), &[file.as_fd()]);
        message.serial
    };
    let serial = send(call(&unable), &mut sender);
    let got = sender.receive().expect("open");
    assert_eq!((got.error_name(), got.reply_serial()), ("NotSupported", Some(serial)));
    for peer in [&mut able, &mut unable] {
        peer.add_match("member='Signal'");
    }
    send(PlainMessage::signal("/x", "com.example.I", "Signal"), &mut sender);
    assert!(sender.is_alive());
    assert_eq!((able.collect().len(), unable.collect().len()), (1, 0));
    assert!(unable.is_alive());
    bus.stop();
}

/// A monitor sees the messages of other peers, has no names and receives no messages of its own,
/// and must not send.
#[test]
fn monitors_see_all_messages_and_must_not_send() {
    let bus = BusUnderTest::session();
    let [mut monitor, mut sender, mut recipient] = [(); 3].map(|()| bus.peer());
    monitor.request_name("com.example.Monitor", 0);
    recipient.add_match("member='NameOwnerChanged'");
    let become_monitor = PlainMessage::call(
        BUS_NAME,
        "/org/freedesktop/DBus",
        "org.freedesktop.DBus.Monitoring",
        "BecomeMonitor",
    );
    let rules = PlainValue::Array("s".into(), Vec::new());
    let reply = monitor.call(become_monitor.arg(rules).arg(PlainValue::U32(0)));
    assert_eq!(reply.kind, kind::RETURN, "{}", reply.summary());
    let gone: Vec<_> =
        recipient.collect().iter().map(|found| found.first_text().to_owned()).collect();
    assert_eq!(gone, [monitor.name(), "com.example.Monitor"], "its names are gone");

    let got = deliver_call(&mut sender, &mut recipient);
    recipient.send(PlainMessage::reply(&got));
    assert_eq!(sender.receive().map(|found| found.kind), Some(kind::RETURN));
    let refused = sender.call(call_name("com.example.Monitor"));
    assert_eq!(refused.error_name(), "ServiceUnknown");
    let wanted = [
        (kind::CALL, sender.name()),
        (kind::RETURN, recipient.name()),
        (kind::CALL, sender.name()),
        (kind::ERROR, BUS_NAME),
    ];
    let mut seen = Vec::new();
    while seen.len() < wanted.len() {
        let found = monitor.receive().expect("open");
        let of_test =
            found.member() == "Method" || found.kind != kind::CALL && found.kind != kind::SIGNAL;
        let to_bus = found.sender() == BUS_NAME && found.kind == kind::RETURN;
        if of_test && !to_bus {
            seen.push((found.kind, found.sender().to_owned()));
        }
    }
    assert_eq!(seen, wanted.map(|(kind, name)| (kind, name.to_owned())));
    monitor.send(PlainMessage::to_bus("GetId"));
    let after = monitor.until_closed();
    assert!(after.iter().all(|found| found.kind != kind::RETURN || found.sender() == BUS_NAME));
    assert!(sender.is_alive() && recipient.is_alive());
    bus.stop();
}
