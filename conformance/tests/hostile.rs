//! Messages that break the format. Each ends the connection of its sender, and nothing else.
//!
//! Every row starts from a call that is fine, to another client, and breaks one thing.

use std::os::fd::AsFd as _;

use conformance::{
    BUS_PATH, Bus, Message, Order, Peer, Value, check_all, fail_with, field, kind, require,
};

/// A call to the recipient with this name.
fn call(to: &str) -> Message {
    let mut message = Message::some_call(to);
    message.serial = 1000;
    message
}

fn signal() -> Message {
    let mut message = Message::some_signal();
    message.serial = 1000;
    message
}

/// A call with bytes changed at places of its header.
fn patched(to: &str, at: usize, bytes: &[u8]) -> Vec<u8> {
    let mut message = call(to).arg(Value::text("body")).encode();
    message[at..at + bytes.len()].copy_from_slice(bytes);
    message
}

/// A call with a field changed.
fn with(to: &str, code: u8, value: Value) -> Vec<u8> {
    call(to).field(code, value).encode()
}

/// A call without a field.
fn without(to: &str, code: u8) -> Vec<u8> {
    call(to).without(code).encode()
}

/// A call with a signature and bytes that need not agree.
fn body(to: &str, signature: &str, bytes: &[u8]) -> Vec<u8> {
    let signature = Value::Signature(signature.to_owned());
    call(to).field(field::SIGNATURE, signature).encode_with_body(bytes)
}

/// A return without the fields of calls.
fn bare(kind: u8, to: &str) -> Message {
    let mut message = Message::new(kind).text(field::DESTINATION, to);
    message.serial = 1000;
    message
}

fn path(text: &str) -> Value {
    Value::Path(text.to_owned())
}

struct Row(&'static str, fn(&str) -> Vec<u8>);

/// Places in the header of every message.
const ORDER: usize = 0;
const TYPE: usize = 1;
const VERSION: usize = 3;
const BODY_LENGTH: usize = 4;
const SERIAL: usize = 8;
const FIELDS_LENGTH: usize = 12;

#[rustfmt::skip]
const BROKEN: &[Row] = &[
    // The fixed part.
    Row("an unknown byte order", |to| patched(to, ORDER, b"x")),
    Row("the other byte order", |to| patched(to, ORDER, b"B")),
    Row("type 0", |to| patched(to, TYPE, &[0])),
    Row("version 0", |to| patched(to, VERSION, &[0])),
    Row("version 2", |to| patched(to, VERSION, &[2])),
    Row("serial 0", |to| patched(to, SERIAL, &[0; 4])),
    Row("a body of 128 MiB", |to| patched(to, BODY_LENGTH, &(1u32 << 27).to_le_bytes())),
    Row("a body of 4 GiB", |to| patched(to, BODY_LENGTH, &[0xff; 4])),
    Row("fields of more than 64 MiB", |to| patched(to, FIELDS_LENGTH, &((1u32 << 26) + 1).to_le_bytes())),
    Row("fields of 4 GiB", |to| patched(to, FIELDS_LENGTH, &[0xff; 4])),
    Row("fields that end in the middle of one", |to| {
        let fields = u32::from_le_bytes(patched(to, 0, b"l")[12..16].try_into().expect("four"));
        patched(to, FIELDS_LENGTH, &(fields - 1).to_le_bytes())
    }),
    Row("text, not a message", |_| b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n".to_vec()),
    // Fields that must be there.
    Row("a call without a path", |to| without(to, field::PATH)),
    Row("a call without a member", |to| without(to, field::MEMBER)),
    Row("a signal without a path", |_| signal().without(field::PATH).encode()),
    Row("a signal without an interface", |_| signal().without(field::INTERFACE).encode()),
    Row("a signal without a member", |_| signal().without(field::MEMBER).encode()),
    Row("a return without a serial", |to| bare(kind::RETURN, to).encode()),
    Row("an error without a serial", |to| bare(kind::ERROR, to).text(field::ERROR_NAME, "a.b").encode()),
    Row("an error without a name", |to| bare(kind::ERROR, to).field(field::REPLY_SERIAL, Value::U32(1)).encode()),
    // Fields that are not what they should be.
    Row("field 0", |to| with(to, 0, Value::text("x"))),
    Row("a field twice", |to| {
        let mut message = call(to);
        message.fields.push((field::MEMBER, Value::text("Method")));
        message.encode()
    }),
    Row("a path of type string", |to| with(to, field::PATH, Value::text("/x"))),
    Row("an interface of type path", |to| with(to, field::INTERFACE, path("/x"))),
    Row("a destination of type u", |to| with(to, field::DESTINATION, Value::U32(1))),
    Row("a reply serial of type i", |to| with(to, field::REPLY_SERIAL, Value::I32(1))),
    Row("a signature of type string", |to| with(to, field::SIGNATURE, Value::text(""))),
    Row("descriptors of type t", |to| with(to, field::UNIX_FDS, Value::U64(0))),
    Row("a reply serial of 0", |to| bare(kind::RETURN, to).field(field::REPLY_SERIAL, Value::U32(0)).encode()),
    Row("an empty path", |to| with(to, field::PATH, path(""))),
    Row("a path without a slash", |to| with(to, field::PATH, path("a/b"))),
    Row("a path with two slashes", |to| with(to, field::PATH, path("/a//b"))),
    Row("a path with a slash at the end", |to| with(to, field::PATH, path("/a/"))),
    Row("a path with a dash", |to| with(to, field::PATH, path("/a-b"))),
    Row("an interface of one element", |to| with(to, field::INTERFACE, Value::text("one"))),
    Row("an interface with a dash", |to| with(to, field::INTERFACE, Value::text("com.a-b"))),
    Row("an interface with a digit first", |to| with(to, field::INTERFACE, Value::text("com.1a"))),
    Row("an interface of 256 bytes", |to| with(to, field::INTERFACE, Value::text(&format!("a.{}", "x".repeat(254))))),
    Row("an empty member", |to| with(to, field::MEMBER, Value::text(""))),
    Row("a member with a dot", |to| with(to, field::MEMBER, Value::text("a.b"))),
    Row("a member with a digit first", |to| with(to, field::MEMBER, Value::text("1a"))),
    Row("a member of 256 bytes", |to| with(to, field::MEMBER, Value::text(&"x".repeat(256)))),
    Row("an error name without a dot", |to| bare(kind::ERROR, to).field(field::REPLY_SERIAL, Value::U32(1)).text(field::ERROR_NAME, "x").encode()),
    Row("an empty destination", |_| call("").encode()),
    Row("a destination without a dot", |_| call("name").encode()),
    Row("a destination with a space", |_| call("com.exa mple").encode()),
    Row("a sender that is no name", |to| with(to, field::SENDER, Value::text("no name"))),
    Row("the reserved interface", |to| with(to, field::INTERFACE, Value::text("org.freedesktop.DBus.Local"))),
    Row("the reserved path", |to| with(to, field::PATH, path("/org/freedesktop/DBus/Local"))),
    Row("the reserved path in a signal", |_| signal().field(field::PATH, path("/org/freedesktop/DBus/Local")).encode()),
    // Signatures.
    Row("a signature with an unknown type", |to| body(to, "z", &[0])),
    Row("a struct left open", |to| body(to, "(u", &[0; 4])),
    Row("a struct closed twice", |to| body(to, "(u))", &[0; 4])),
    Row("an empty struct", |to| body(to, "()", &[])),
    Row("an array of nothing", |to| body(to, "a", &[0; 4])),
    Row("a dictionary entry outside an array", |to| body(to, "{su}", &[0; 16])),
    Row("a dictionary of variants as keys", |to| body(to, "a{vs}", &[0; 8])),
    Row("a dictionary with three in an entry", |to| body(to, "a{sus}", &[0; 8])),
    Row("a dictionary with one in an entry", |to| body(to, "a{s}", &[0; 8])),
    Row("33 arrays deep", |to| body(to, &format!("{}u", "a".repeat(33)), &[0; 4])),
    Row("33 structs deep", |to| body(to, &format!("{}u{}", "(".repeat(33), ")".repeat(33)), &[0; 4])),
    // Bodies.
    Row("a body without a signature", |to| call(to).encode_with_body(&[0; 8])),
    Row("a signature without a body", |to| body(to, "u", &[])),
    Row("a byte too many", |to| body(to, "u", &[1, 0, 0, 0, 0])),
    Row("a boolean of 2", |to| body(to, "b", &[2, 0, 0, 0])),
    Row("a string without its NUL", |to| body(to, "s", b"\x01\0\0\0aa")),
    Row("a string with NUL inside", |to| body(to, "s", b"\x03\0\0\0a\0a\0")),
    Row("a string that is no UTF-8", |to| body(to, "s", b"\x02\0\0\0\xc3\x28\0")),
    Row("a string with an overlong form", |to| body(to, "s", b"\x02\0\0\0\xc0\x80\0")),
    Row("a string with a surrogate", |to| body(to, "s", b"\x03\0\0\0\xed\xa0\x80\0")),
    Row("a string beyond Unicode", |to| body(to, "s", b"\x04\0\0\0\xf4\x90\x80\x80\0")),
    Row("a string longer than the body", |to| body(to, "s", b"\xff\0\0\0a\0")),
    Row("a string of 4 GiB", |to| body(to, "s", b"\xff\xff\xff\xffa\0")),
    Row("a broken path in the body", |to| body(to, "o", b"\x02\0\0\0a/\0")),
    Row("a broken signature in the body", |to| body(to, "g", b"\x01(\0")),
    Row("a signature in the body without its NUL", |to| body(to, "g", b"\x01uu")),
    Row("padding that is not zero", |to| body(to, "yu", &[1, 2, 3, 4, 5, 0, 0, 0])),
    Row("padding of an empty array that is not zero", |to| body(to, "at", &[0, 0, 0, 0, 1, 0, 0, 0])),
    Row("an array longer than the body", |to| body(to, "au", &[8, 0, 0, 0, 1, 0, 0, 0])),
    Row("an array that ends in an element", |to| body(to, "au", &[3, 0, 0, 0, 1, 0, 0, 0])),
    Row("an array of more than 64 MiB", |to| body(to, "ay", &[1, 0, 0, 4, 0, 0, 0, 0])),
    Row("a variant of nothing", |to| body(to, "v", &[0, 0])),
    Row("a variant of two types", |to| body(to, "v", b"\x02uu\0\0\0\0\0\0\0\0\0\0\0\0\0")),
    Row("a variant of a broken type", |to| body(to, "v", b"\x01a\0\0\0\0\0\0")),
    Row("more than 64 variants deep", |to| body(to, "v", &[b"\x01v\0".repeat(70), b"\x01y\0\0".to_vec()].concat())),
    // Descriptors.
    Row("a descriptor that does not come", |to| call(to).field(field::UNIX_FDS, Value::U32(1)).encode()),
];

#[test]
fn what_ends_a_connection() {
    let bus = Bus::session();
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

/// The same to the bus itself.
#[test]
fn what_ends_a_connection_to_the_bus() {
    let bus = Bus::session();
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
const FINE: &[Row] = &[
    Row("the other byte order all over", |to| call(to).order(Order::Big).arg(Value::text("x")).encode()),
    Row("no interface", |to| without(to, field::INTERFACE)),
    Row("an empty signature", |to| body(to, "", &[])),
    Row("a field of the future", |to| with(to, 77, Value::variant(Value::U32(1)))),
    Row("an interface of 255 bytes", |to| with(to, field::INTERFACE, Value::text(&format!("a.{}", "x".repeat(253))))),
    Row("a member of 255 bytes", |to| with(to, field::MEMBER, Value::text(&"x".repeat(255)))),
    Row("a long path", |to| with(to, field::PATH, path(&format!("/{}", "x".repeat(3000))))),
    Row("the root", |to| with(to, field::PATH, path("/"))),
    Row("the path of the bus", |to| with(to, field::PATH, path(BUS_PATH))),
    Row("32 arrays deep", |to| body(to, &format!("{}u", "a".repeat(32)), &[0; 4])),
    Row("32 structs deep", |to| body(to, &format!("{}u{}", "(".repeat(32), ")".repeat(32)), &[0; 4])),
    Row("a signature of 255 bytes", |to| body(to, &"y".repeat(255), &[7; 255])),
    Row("characters that are none", |to| call(to).arg(Value::text("\u{fdd0}\u{ffff}\u{10ffff}")).encode()),
    Row("an empty array of large alignment", |to| body(to, "at", &[0; 8])),
    Row("an empty string", |to| call(to).arg(Value::text("")).encode()),
    Row("a dictionary key twice", |to| {
        let entry = Value::Entry(Box::new(Value::U32(1)), Box::new(Value::U32(2)));
        call(to).arg(Value::Array("{uu}".into(), vec![entry.clone(), entry])).encode()
    }),
    Row("variants in variants", |to| call(to).arg((0..30).fold(Value::Byte(1), |inner, _| Value::variant(inner))).encode()),
    Row("no descriptors, and the field", |to| with(to, field::UNIX_FDS, Value::U32(0))),
    Row("an unsolicited reply serial on a call", |to| with(to, field::REPLY_SERIAL, Value::U32(5))),
];

#[test]
fn what_is_unusual_and_fine() {
    let bus = Bus::session();
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

/// The messages of the reference's own tests.
#[test]
fn messages_of_the_reference() {
    let folder = require("/usr/lib/dbus-1.0/installed-tests/dbus/data", "dbus-tests");
    let bus = Bus::session();
    let files = std::fs::read_dir(folder.join("invalid-messages")).expect("the package has it");
    let files = files.map(|entry| entry.expect("readable").path());
    let raw = files.filter(|path| path.extension().is_some_and(|end| end == "message-raw"));
    let survived = raw.filter(|path| {
        let mut sender = bus.peer();
        sender.send_bytes(&std::fs::read(path).expect("readable"));
        // One of them is only the beginning of a message; this is what follows then.
        sender.send_bytes(&[0; 64]);
        !sender.until_closed().is_empty()
    });
    fail_with("messages", &survived.map(|path| path.display().to_string()).collect::<Vec<_>>());
    assert!(bus.peer().is_alive());
    bus.stop();
}

/// A broken message after good ones: the good ones arrive.
#[test]
fn good_ones_before_a_broken_one() {
    let bus = Bus::session();
    let [mut sender, mut recipient] = [bus.peer(), bus.peer()];
    let good = Message { flags: 1, ..call(recipient.name()) }.encode();
    let broken = without(recipient.name(), field::PATH);
    sender.send_bytes(&[good.clone(), good.clone(), broken, good].concat());
    assert_eq!(sender.until_closed().len(), 0);
    assert_eq!(recipient.collect().len(), 2);
    bus.stop();
}

/// A client that leaves in the middle of a message.
#[test]
fn half_a_message() {
    let bus = Bus::session();
    let [mut watcher, mut recipient] = [bus.peer(), bus.peer()];
    watcher.add_match("member='NameOwnerChanged'");
    let whole = call(recipient.name()).arg(Value::text("text")).encode();
    for length in [1, 15, 16, 17, whole.len() - 1] {
        let mut sender = bus.peer();
        sender.send_bytes(&whole[..length]);
        drop(sender);
    }
    // Each came and left.
    let heard = (0..10).filter_map(|_| watcher.receive()).count();
    assert_eq!((heard, recipient.collect().len()), (10, 0));
    bus.stop();
}

/// Who did not agree on descriptors and sends some, or sends too many in one message, is closed.
#[test]
fn descriptors_out_of_turn() {
    let bus = Bus::session();
    let mut recipient = bus.peer();
    let file = std::fs::File::open("/dev/null").expect("it exists");
    let message = |count: u32| {
        let mut message = call(recipient.name()).field(field::UNIX_FDS, Value::U32(count));
        message.body = (0..count).map(Value::Fd).collect();
        message.encode()
    };
    let rows: [(&str, Peer, u32, usize); 3] = [
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
