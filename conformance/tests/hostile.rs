//! Malformed messages. Each one makes the bus disconnect its sender, and nothing else.
//!
//! Every row starts from a valid call to another client, and breaks one part of it.

use std::os::fd::AsFd as _;

use conformance::{
    BUS_PATH, BusUnderTest, PlainMessage, PlainValue, TestPeer, WireByteOrder, check_all,
    fail_with, field, kind, require,
};

/// A call to the recipient with this name.
fn call(to: &str) -> PlainMessage {
    let mut message = PlainMessage::some_call(to);
    message.serial = 1000;
    message
}

fn signal() -> PlainMessage {
    let mut message = PlainMessage::some_signal();
    message.serial = 1000;
    message
}

/// A call with changed bytes at a position in its header.
fn patched(to: &str, at: usize, bytes: &[u8]) -> Vec<u8> {
    let mut message = call(to).arg(PlainValue::text("body")).encode();
    message[at..at + bytes.len()].copy_from_slice(bytes);
    message
}

/// A call with a changed header field.
fn with(to: &str, code: u8, value: PlainValue) -> Vec<u8> {
    call(to).field(code, value).encode()
}

/// A call without one header field.
fn without(to: &str, code: u8) -> Vec<u8> {
    call(to).without(code).encode()
}

/// A call with a signature and a body that need not agree.
fn body(to: &str, signature: &str, bytes: &[u8]) -> Vec<u8> {
    let signature = PlainValue::Signature(signature.to_owned());
    call(to).field(field::SIGNATURE, signature).encode_with_body(bytes)
}

/// A return without the fields of calls.
fn bare(kind: u8, to: &str) -> PlainMessage {
    let mut message = PlainMessage::new(kind).text(field::DESTINATION, to);
    message.serial = 1000;
    message
}

fn path(text: &str) -> PlainValue {
    PlainValue::Path(text.to_owned())
}

struct HostileCase(&'static str, fn(&str) -> Vec<u8>);

/// Positions in the header of every message.
const ORDER: usize = 0;
const TYPE: usize = 1;
const VERSION: usize = 3;
const BODY_LENGTH: usize = 4;
const SERIAL: usize = 8;
const FIELDS_LENGTH: usize = 12;

#[rustfmt::skip]
const BROKEN: &[HostileCase] = &[
    // The fixed part of the header.
    HostileCase("an unknown byte order", |to| patched(to, ORDER, b"x")),
    HostileCase("the other byte order", |to| patched(to, ORDER, b"B")),
    HostileCase("type 0", |to| patched(to, TYPE, &[0])),
    HostileCase("version 0", |to| patched(to, VERSION, &[0])),
    HostileCase("version 2", |to| patched(to, VERSION, &[2])),
    HostileCase("serial 0", |to| patched(to, SERIAL, &[0; 4])),
    HostileCase("a body of 128 MiB", |to| patched(to, BODY_LENGTH, &(1u32 << 27).to_le_bytes())),
    HostileCase("a body of 4 GiB", |to| patched(to, BODY_LENGTH, &[0xff; 4])),
    HostileCase("fields of more than 64 MiB", |to| patched(to, FIELDS_LENGTH, &((1u32 << 26) + 1).to_le_bytes())),
    HostileCase("fields of 4 GiB", |to| patched(to, FIELDS_LENGTH, &[0xff; 4])),
    HostileCase("fields that end in the middle of one", |to| {
        let fields = u32::from_le_bytes(patched(to, 0, b"l")[12..16].try_into().expect("four"));
        patched(to, FIELDS_LENGTH, &(fields - 1).to_le_bytes())
    }),
    HostileCase("text, not a message", |_| b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n".to_vec()),
    // Required header fields that are missing.
    HostileCase("a call without a path", |to| without(to, field::PATH)),
    HostileCase("a call without a member", |to| without(to, field::MEMBER)),
    HostileCase("a signal without a path", |_| signal().without(field::PATH).encode()),
    HostileCase("a signal without an interface", |_| signal().without(field::INTERFACE).encode()),
    HostileCase("a signal without a member", |_| signal().without(field::MEMBER).encode()),
    HostileCase("a return without a serial", |to| bare(kind::RETURN, to).encode()),
    HostileCase("an error without a serial", |to| bare(kind::ERROR, to).text(field::ERROR_NAME, "a.b").encode()),
    HostileCase("an error without a name", |to| bare(kind::ERROR, to).field(field::REPLY_SERIAL, PlainValue::U32(1)).encode()),
    // Header fields with invalid values.
    HostileCase("field 0", |to| with(to, 0, PlainValue::text("x"))),
    HostileCase("a field twice", |to| {
        let mut message = call(to);
        message.fields.push((field::MEMBER, PlainValue::text("Method")));
        message.encode()
    }),
    HostileCase("a path of type string", |to| with(to, field::PATH, PlainValue::text("/x"))),
    HostileCase("an interface of type path", |to| with(to, field::INTERFACE, path("/x"))),
    HostileCase("a destination of type u", |to| with(to, field::DESTINATION, PlainValue::U32(1))),
    HostileCase("a reply serial of type i", |to| with(to, field::REPLY_SERIAL, PlainValue::I32(1))),
    HostileCase("a signature of type string", |to| with(to, field::SIGNATURE, PlainValue::text(""))),
    HostileCase("descriptors of type t", |to| with(to, field::UNIX_FDS, PlainValue::U64(0))),
    HostileCase("a reply serial of 0", |to| bare(kind::RETURN, to).field(field::REPLY_SERIAL, PlainValue::U32(0)).encode()),
    HostileCase("an empty path", |to| with(to, field::PATH, path(""))),
    HostileCase("a path without a slash", |to| with(to, field::PATH, path("a/b"))),
    HostileCase("a path with two slashes", |to| with(to, field::PATH, path("/a//b"))),
    HostileCase("a path with a slash at the end", |to| with(to, field::PATH, path("/a/"))),
    HostileCase("a path with a dash", |to| with(to, field::PATH, path("/a-b"))),
    HostileCase("an interface of one element", |to| with(to, field::INTERFACE, PlainValue::text("one"))),
    HostileCase("an interface with a dash", |to| with(to, field::INTERFACE, PlainValue::text("com.a-b"))),
    HostileCase("an interface with a digit first", |to| with(to, field::INTERFACE, PlainValue::text("com.1a"))),
    HostileCase("an interface of 256 bytes", |to| with(to, field::INTERFACE, PlainValue::text(&format!("a.{}", "x".repeat(254))))),
    HostileCase("an empty member", |to| with(to, field::MEMBER, PlainValue::text(""))),
    HostileCase("a member with a dot", |to| with(to, field::MEMBER, PlainValue::text("a.b"))),
    HostileCase("a member with a digit first", |to| with(to, field::MEMBER, PlainValue::text("1a"))),
    HostileCase("a member of 256 bytes", |to| with(to, field::MEMBER, PlainValue::text(&"x".repeat(256)))),
    HostileCase("an error name without a dot", |to| bare(kind::ERROR, to).field(field::REPLY_SERIAL, PlainValue::U32(1)).text(field::ERROR_NAME, "x").encode()),
    HostileCase("an empty destination", |_| call("").encode()),
    HostileCase("a destination without a dot", |_| call("name").encode()),
    HostileCase("a destination with a space", |_| call("com.exa mple").encode()),
    HostileCase("a sender that is not a valid name", |to| with(to, field::SENDER, PlainValue::text("no name"))),
    HostileCase("the reserved interface", |to| with(to, field::INTERFACE, PlainValue::text("org.freedesktop.DBus.Local"))),
    HostileCase("the reserved path", |to| with(to, field::PATH, path("/org/freedesktop/DBus/Local"))),
    HostileCase("the reserved path in a signal", |_| signal().field(field::PATH, path("/org/freedesktop/DBus/Local")).encode()),
    // Invalid signatures of bodies.
    HostileCase("a signature with an unknown type", |to| body(to, "z", &[0])),
    HostileCase("a struct left open", |to| body(to, "(u", &[0; 4])),
    HostileCase("a struct closed twice", |to| body(to, "(u))", &[0; 4])),
    HostileCase("an empty struct", |to| body(to, "()", &[])),
    HostileCase("an array of nothing", |to| body(to, "a", &[0; 4])),
    HostileCase("a dictionary entry outside an array", |to| body(to, "{su}", &[0; 16])),
    HostileCase("a dictionary of variants as keys", |to| body(to, "a{vs}", &[0; 8])),
    HostileCase("a dictionary with three in an entry", |to| body(to, "a{sus}", &[0; 8])),
    HostileCase("a dictionary with one in an entry", |to| body(to, "a{s}", &[0; 8])),
    HostileCase("33 arrays deep", |to| body(to, &format!("{}u", "a".repeat(33)), &[0; 4])),
    HostileCase("33 structs deep", |to| body(to, &format!("{}u{}", "(".repeat(33), ")".repeat(33)), &[0; 4])),
    // Bodies that do not match their signature.
    HostileCase("a body without a signature", |to| call(to).encode_with_body(&[0; 8])),
    HostileCase("a signature without a body", |to| body(to, "u", &[])),
    HostileCase("a byte too many", |to| body(to, "u", &[1, 0, 0, 0, 0])),
    HostileCase("a boolean of 2", |to| body(to, "b", &[2, 0, 0, 0])),
    HostileCase("a string without its NUL", |to| body(to, "s", b"\x01\0\0\0aa")),
    HostileCase("a string with NUL inside", |to| body(to, "s", b"\x03\0\0\0a\0a\0")),
    HostileCase("a string that is not UTF-8", |to| body(to, "s", b"\x02\0\0\0\xc3\x28\0")),
    HostileCase("a string with an overlong form", |to| body(to, "s", b"\x02\0\0\0\xc0\x80\0")),
    HostileCase("a string with a surrogate", |to| body(to, "s", b"\x03\0\0\0\xed\xa0\x80\0")),
    HostileCase("a string beyond Unicode", |to| body(to, "s", b"\x04\0\0\0\xf4\x90\x80\x80\0")),
    HostileCase("a string longer than the body", |to| body(to, "s", b"\xff\0\0\0a\0")),
    HostileCase("a string of 4 GiB", |to| body(to, "s", b"\xff\xff\xff\xffa\0")),
    HostileCase("a broken path in the body", |to| body(to, "o", b"\x02\0\0\0a/\0")),
    HostileCase("a broken signature in the body", |to| body(to, "g", b"\x01(\0")),
    HostileCase("a signature in the body without its NUL", |to| body(to, "g", b"\x01uu")),
    HostileCase("padding that is not zero", |to| body(to, "yu", &[1, 2, 3, 4, 5, 0, 0, 0])),
    HostileCase("padding of an empty array that is not zero", |to| body(to, "at", &[0, 0, 0, 0, 1, 0, 0, 0])),
    HostileCase("an array longer than the body", |to| body(to, "au", &[8, 0, 0, 0, 1, 0, 0, 0])),
    HostileCase("an array that ends in an element", |to| body(to, "au", &[3, 0, 0, 0, 1, 0, 0, 0])),
    HostileCase("an array of more than 64 MiB", |to| body(to, "ay", &[1, 0, 0, 4, 0, 0, 0, 0])),
    HostileCase("a variant of nothing", |to| body(to, "v", &[0, 0])),
    HostileCase("a variant of two types", |to| body(to, "v", b"\x02uu\0\0\0\0\0\0\0\0\0\0\0\0\0")),
    HostileCase("a variant of a broken type", |to| body(to, "v", b"\x01a\0\0\0\0\0\0")),
    HostileCase("more than 64 variants deep", |to| body(to, "v", &[b"\x01v\0".repeat(70), b"\x01y\0\0".to_vec()].concat())),
    // Descriptors that do not match the header.
    HostileCase("a descriptor that does not come", |to| call(to).field(field::UNIX_FDS, PlainValue::U32(1)).encode()),
];

#[test]
fn malformed_messages_disconnect_their_sender() {
    let bus = BusUnderTest::session();
    check_all(
        BROKEN,
        |row| row.0.to_owned(),
        |row| {
            let [mut sender, mut recipient] = [bus.peer(), bus.peer()];
            recipient.add_match("member='Signal'");
            sender.send_bytes(&(row.1)(recipient.name()));
            assert_eq!(sender.until_closed().len(), 0, "closed without a word");
            assert_eq!(recipient.collect().len(), 0, "and nothing gets through");
        },
    );
    assert!(bus.peer().is_alive());
    bus.stop();
}

/// The same messages, addressed to the bus.
#[test]
fn malformed_messages_to_the_bus_disconnect_their_sender() {
    let bus = BusUnderTest::session();
    check_all(
        BROKEN,
        |row| row.0.to_owned(),
        |row| {
            let mut sender = bus.peer();
            sender.send_bytes(&(row.1)("org.freedesktop.DBus"));
            assert_eq!(sender.until_closed().len(), 0, "closed without a word");
        },
    );
    assert!(bus.peer().is_alive());
    bus.stop();
}

#[rustfmt::skip]
const FINE: &[HostileCase] = &[
    HostileCase("the other byte order all over", |to| call(to).order(WireByteOrder::Big).arg(PlainValue::text("x")).encode()),
    HostileCase("no interface", |to| without(to, field::INTERFACE)),
    HostileCase("an empty signature", |to| body(to, "", &[])),
    HostileCase("a field of the future", |to| with(to, 77, PlainValue::variant(PlainValue::U32(1)))),
    HostileCase("an interface of 255 bytes", |to| with(to, field::INTERFACE, PlainValue::text(&format!("a.{}", "x".repeat(253))))),
    HostileCase("a member of 255 bytes", |to| with(to, field::MEMBER, PlainValue::text(&"x".repeat(255)))),
    HostileCase("a long path", |to| with(to, field::PATH, path(&format!("/{}", "x".repeat(3000))))),
    HostileCase("the root", |to| with(to, field::PATH, path("/"))),
    HostileCase("the path of the bus", |to| with(to, field::PATH, path(BUS_PATH))),
    HostileCase("32 arrays deep", |to| body(to, &format!("{}u", "a".repeat(32)), &[0; 4])),
    HostileCase("32 structs deep", |to| body(to, &format!("{}u{}", "(".repeat(32), ")".repeat(32)), &[0; 4])),
    HostileCase("a signature of 255 bytes", |to| body(to, &"y".repeat(255), &[7; 255])),
    HostileCase("characters that are none", |to| call(to).arg(PlainValue::text("\u{fdd0}\u{ffff}\u{10ffff}")).encode()),
    HostileCase("an empty array of large alignment", |to| body(to, "at", &[0; 8])),
    HostileCase("an empty string", |to| call(to).arg(PlainValue::text("")).encode()),
    HostileCase("a dictionary key twice", |to| {
        let entry = PlainValue::Entry(Box::new(PlainValue::U32(1)), Box::new(PlainValue::U32(2)));
        call(to).arg(PlainValue::Array("{uu}".into(), vec![entry.clone(), entry])).encode()
    }),
    HostileCase("variants in variants", |to| call(to).arg((0..30).fold(PlainValue::Byte(1), |inner, _| PlainValue::variant(inner))).encode()),
    HostileCase("no descriptors, and the field", |to| with(to, field::UNIX_FDS, PlainValue::U32(0))),
    HostileCase("an unsolicited reply serial on a call", |to| with(to, field::REPLY_SERIAL, PlainValue::U32(5))),
];

#[test]
fn unusual_but_valid_messages_are_delivered() {
    let bus = BusUnderTest::session();
    check_all(
        FINE,
        |row| row.0.to_owned(),
        |row| {
            let [mut sender, mut recipient] = [bus.peer(), bus.peer()];
            sender.send_bytes(&(row.1)(recipient.name()));
            let got = recipient.receive().expect("open");
            assert_eq!((got.serial, got.sender()), (1000, sender.name()));
            assert!(sender.is_alive());
        },
    );
    bus.stop();
}

/// The messages of dbus-daemon's own test suite.
#[test]
fn messages_of_dbus_daemons_tests_are_judged_alike() {
    let folder = require("/usr/lib/dbus-1.0/installed-tests/dbus/data", "dbus-tests");
    let bus = BusUnderTest::session();
    let files = std::fs::read_dir(folder.join("invalid-messages")).expect("the package has it");
    let files = files.map(|entry| entry.expect("readable").path());
    let raw = files.filter(|path| path.extension().is_some_and(|end| end == "message-raw"));
    let survived = raw.filter(|path| {
        let mut sender = bus.peer();
        sender.send_bytes(&std::fs::read(path).expect("readable"));
        // One of the files is only the beginning of a message; these bytes complete it.
        sender.send_bytes(&[0; 64]);
        !sender.until_closed().is_empty()
    });
    fail_with("messages", &survived.map(|path| path.display().to_string()).collect::<Vec<_>>());
    assert!(bus.peer().is_alive());
    bus.stop();
}

/// Valid messages before a malformed one are delivered.
#[test]
fn valid_messages_before_a_malformed_one_are_delivered() {
    let bus = BusUnderTest::session();
    let [mut sender, mut recipient] = [bus.peer(), bus.peer()];
    let good = PlainMessage { flags: 1, ..call(recipient.name()) }.encode();
    let broken = without(recipient.name(), field::PATH);
    sender.send_bytes(&[good.clone(), good.clone(), broken, good].concat());
    assert_eq!(sender.until_closed().len(), 0);
    assert_eq!(recipient.collect().len(), 2);
    bus.stop();
}

/// A client that disconnects in the middle of a message.
#[test]
fn a_disconnect_inside_a_message_does_not_affect_others() {
    let bus = BusUnderTest::session();
    let [mut watcher, mut recipient] = [bus.peer(), bus.peer()];
    watcher.add_match("member='NameOwnerChanged'");
    let whole = call(recipient.name()).arg(PlainValue::text("text")).encode();
    for length in [1, 15, 16, 17, whole.len() - 1] {
        let mut sender = bus.peer();
        sender.send_bytes(&whole[..length]);
        drop(sender);
    }
    // Each client connected and disconnected.
    let seen = (0..10).filter_map(|_| watcher.receive()).count();
    assert_eq!((seen, recipient.collect().len()), (10, 0));
    bus.stop();
}

/// A client that sends descriptors without having negotiated them, or too many in one message, is
/// disconnected.
#[test]
fn unnegotiated_or_too_many_descriptors_disconnect_their_sender() {
    let bus = BusUnderTest::session();
    let mut recipient = bus.peer();
    let file = std::fs::File::open("/dev/null").expect("it exists");
    let message = |count: u32| {
        let mut message = call(recipient.name()).field(field::UNIX_FDS, PlainValue::U32(count));
        message.body = (0..count).map(PlainValue::Fd).collect();
        message.encode()
    };
    let rows: [(&str, TestPeer, u32, usize); 3] = [
        ("not agreed on", bus.peer_without_descriptors(), 1, 1),
        ("more than the limit", bus.peer(), 17, 17),
        ("fewer than announced", bus.peer(), 3, 2),
    ];
    for (name, mut sender, announced, sent) in rows {
        let files = vec![file.as_fd(); sent];
        sender.send_with_descriptors(&message(announced), &files);
        assert_eq!(sender.until_closed().len(), 0, "{name}");
    }
    let mut sender = bus.peer();
    sender.send_with_descriptors(&message(16), &[file.as_fd(); 16]);
    let got = recipient.receive().expect("open");
    assert_eq!(got.descriptors.len(), 16, "as many as the limit");
    assert_eq!(recipient.collect().len(), 0);
    bus.stop();
}
