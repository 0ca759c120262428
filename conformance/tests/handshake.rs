//! The authentication handshake (specification, "Authentication Protocol").

use std::time::Duration;

use conformance::{
    BUS_NAME, BusUnderTest, PeerStream, PlainMessage, ReceivedDescriptors, RunAs, TestConfig,
    TestPeer, check_all, hex, key,
};

/// The answer of the bus to a line.
#[derive(Debug, Clone, Copy)]
enum HandshakeAnswer {
    /// A line that starts with this text.
    Says(&'static str),
    /// The bus closes the connection.
    Closes,
}

use HandshakeAnswer::{Closes, Says};

struct HandshakeCase {
    name: &'static str,
    /// Lines of the client, each with the answer. `{uid}` stands for the user id of the client,
    /// encoded as the hexadecimal form of its decimal digits, `{other}` for another user's id.
    lines: &'static [(&'static str, HandshakeAnswer)],
}

/// BEGIN has no answer and ends the handshake, so it is not in these rows.
#[rustfmt::skip]
const ROWS: &[HandshakeCase] = &[
    HandshakeCase { name: "which mechanisms", lines: &[("AUTH", Says("REJECTED EXTERNAL"))] },
    HandshakeCase { name: "credentials at once", lines: &[("AUTH EXTERNAL {uid}", Says("OK "))] },
    HandshakeCase { name: "credentials when asked", lines: &[("AUTH EXTERNAL", Says("DATA")), ("DATA {uid}", Says("OK "))] },
    HandshakeCase { name: "no credentials when asked", lines: &[("AUTH EXTERNAL", Says("DATA")), ("DATA", Says("OK "))] },
    HandshakeCase { name: "another user", lines: &[("AUTH EXTERNAL {other}", Says("REJECTED ")), ("AUTH EXTERNAL {uid}", Says("OK "))] },
    HandshakeCase { name: "another user when asked", lines: &[("AUTH EXTERNAL", Says("DATA")), ("DATA {other}", Says("REJECTED "))] },
    HandshakeCase { name: "an unknown mechanism", lines: &[("AUTH NONSENSE", Says("REJECTED ")), ("AUTH EXTERNAL {uid}", Says("OK "))] },
    HandshakeCase { name: "an unknown command", lines: &[("NONSENSE", Says("ERROR")), ("AUTH EXTERNAL {uid}", Says("OK "))] },
    HandshakeCase { name: "an empty line", lines: &[("", Says("ERROR")), ("AUTH EXTERNAL {uid}", Says("OK "))] },
    HandshakeCase { name: "small letters", lines: &[("auth EXTERNAL {uid}", Says("ERROR"))] },
    HandshakeCase { name: "no digits", lines: &[("AUTH EXTERNAL zz", Says("ERROR")), ("AUTH EXTERNAL {uid}", Says("OK "))] },
    HandshakeCase { name: "DATA before AUTH", lines: &[("DATA {uid}", Says("ERROR"))] },
    HandshakeCase { name: "CANCEL before AUTH", lines: &[("CANCEL", Says("ERROR"))] },
    HandshakeCase { name: "ERROR before AUTH", lines: &[("ERROR", Says("REJECTED "))] },
    HandshakeCase { name: "descriptors before OK", lines: &[("NEGOTIATE_UNIX_FD", Says("ERROR"))] },
    HandshakeCase { name: "BEGIN before AUTH", lines: &[("BEGIN", Closes)] },
    HandshakeCase { name: "BEGIN after REJECTED", lines: &[("AUTH", Says("REJECTED ")), ("BEGIN", Closes)] },
    HandshakeCase { name: "CANCEL while asked", lines: &[("AUTH EXTERNAL", Says("DATA")), ("CANCEL", Says("REJECTED ")), ("AUTH EXTERNAL {uid}", Says("OK "))] },
    HandshakeCase { name: "ERROR while asked", lines: &[("AUTH EXTERNAL", Says("DATA")), ("ERROR why", Says("REJECTED "))] },
    HandshakeCase { name: "AUTH while asked", lines: &[("AUTH EXTERNAL", Says("DATA")), ("AUTH EXTERNAL {uid}", Says("ERROR"))] },
    HandshakeCase { name: "BEGIN while asked", lines: &[("AUTH EXTERNAL", Says("DATA")), ("BEGIN", Closes)] },
    HandshakeCase { name: "descriptors", lines: &[("AUTH EXTERNAL {uid}", Says("OK ")), ("NEGOTIATE_UNIX_FD", Says("AGREE_UNIX_FD"))] },
    HandshakeCase { name: "descriptors twice", lines: &[("AUTH EXTERNAL {uid}", Says("OK ")), ("NEGOTIATE_UNIX_FD", Says("AGREE_UNIX_FD")), ("NEGOTIATE_UNIX_FD", Says("AGREE_UNIX_FD"))] },
    HandshakeCase { name: "AUTH after OK", lines: &[("AUTH EXTERNAL {uid}", Says("OK ")), ("AUTH EXTERNAL {uid}", Says("ERROR"))] },
    HandshakeCase { name: "DATA after OK", lines: &[("AUTH EXTERNAL {uid}", Says("OK ")), ("DATA", Says("ERROR"))] },
    HandshakeCase { name: "CANCEL after OK", lines: &[("AUTH EXTERNAL {uid}", Says("OK ")), ("CANCEL", Says("REJECTED ")), ("AUTH EXTERNAL {uid}", Says("OK "))] },
    HandshakeCase { name: "ERROR after OK", lines: &[("AUTH EXTERNAL {uid}", Says("OK ")), ("ERROR", Says("REJECTED "))] },
    HandshakeCase { name: "nonsense after OK", lines: &[("AUTH EXTERNAL {uid}", Says("OK ")), ("NONSENSE", Says("ERROR"))] },
    HandshakeCase { name: "a byte that is not ASCII", lines: &[("AUTH ü", Says("ERROR"))] },
];

#[test]
fn dialogues() {
    let bus = BusUnderTest::session();
    check_all(
        ROWS,
        |row| row.name.to_owned(),
        |row| {
            let mut stream = PeerStream::connect(bus.address());
            stream.write(b"\0");
            for (line, answer) in row.lines {
                let reply = stream.say(&fill(line));
                match (answer, &reply) {
                    (Closes, None) => {}
                    (Says(start), Some(reply)) if reply.starts_with(start) => {}
                    _ => panic!("{line:?} is answered by {reply:?}, not {answer:?}"),
                }
            }
        },
    );
    bus.stop();
}

fn fill(line: &str) -> String {
    let uid = RunAs::own_uid();
    let digits = |uid: u32| hex(uid.to_string().as_bytes());
    line.replace("{uid}", &digits(uid)).replace("{other}", &digits(uid + 1))
}

/// The id in OK is the guid of the address.
#[test]
fn ok_has_the_guid_of_the_address() {
    let bus = BusUnderTest::session();
    let mut stream = PeerStream::connect(bus.address());
    stream.write(b"\0");
    let ok = stream.say(&fill("AUTH EXTERNAL {uid}")).expect("it answers");
    assert_eq!(ok.strip_prefix("OK "), key(bus.address(), "guid"));
    bus.stop();
}

/// The answer to AUTH without arguments lists the configured mechanisms.
#[test]
fn auth_without_arguments_lists_the_mechanisms() {
    let rows = [
        ("", "REJECTED EXTERNAL DBUS_COOKIE_SHA1 ANONYMOUS"),
        ("<auth>EXTERNAL</auth>", "REJECTED EXTERNAL"),
        ("<auth>ANONYMOUS</auth><auth>EXTERNAL</auth>", "REJECTED EXTERNAL ANONYMOUS"),
    ];
    for (elements, says) in rows {
        let bus = BusUnderTest::start(&TestConfig::session().element(elements));
        let mut stream = PeerStream::connect(bus.address());
        stream.write(b"\0");
        assert_eq!(stream.say("AUTH").as_deref(), Some(says), "{elements}");
        bus.stop();
    }
}

/// TCP carries no credentials, so without a cookie the only mechanism is ANONYMOUS, and only if it
/// is allowed.
#[test]
fn anonymous_clients_are_accepted_only_if_allowed() {
    for (allow, welcome) in [("<allow_anonymous/>", true), ("", false)] {
        let config = TestConfig::session()
            .listen("tcp:host=127.0.0.1,port=0")
            .element("<auth>ANONYMOUS</auth>")
            .element(allow);
        let bus = BusUnderTest::start(&config);
        let mut stream = PeerStream::connect(bus.address());
        stream.write(b"\0");
        let ok = stream.say("AUTH ANONYMOUS").expect("it answers");
        assert!(ok.starts_with("OK "), "{ok}");
        let refused = stream.say("NEGOTIATE_UNIX_FD").expect("it answers");
        assert!(refused.starts_with("ERROR"), "no descriptors over TCP: {refused}");
        stream.write(b"BEGIN\r\n");
        if welcome {
            assert!(TestPeer::over(stream).hello().first_text().starts_with(":1."));
        } else {
            assert!(stream.is_closed());
        }
        bus.stop();
    }
}

/// The handshake works in one write and byte by byte.
#[test]
fn a_handshake_works_in_one_write_and_byte_by_byte() {
    let bus = BusUnderTest::session();
    let mut bytes =
        format!("\0{}\r\nNEGOTIATE_UNIX_FD\r\nBEGIN\r\n", fill("AUTH EXTERNAL {uid}")).into_bytes();
    let mut hello = PlainMessage::to_bus("Hello");
    hello.serial = 1;
    bytes.extend(hello.encode());
    for piece in [1, 3, 50, bytes.len()] {
        let mut stream = PeerStream::connect(bus.address());
        for part in bytes.chunks(piece) {
            stream.write(part);
        }
        assert!(stream.read_line().is_some_and(|line| line.starts_with("OK ")));
        assert_eq!(stream.read_line().as_deref(), Some("AGREE_UNIX_FD"));
        let reply = TestPeer::over(stream).receive().expect("it answers Hello");
        assert_eq!((reply.reply_serial(), reply.sender()), (Some(1), BUS_NAME));
    }
    bus.stop();
}

/// The bus closes each of these connections immediately, without an answer.
#[test]
fn invalid_handshakes_are_disconnected() {
    let bus = BusUnderTest::session();
    let line_of = |length: usize| {
        let mut line = b"\0AUTH ".to_vec();
        line.resize(length, b'A');
        line
    };
    let rows: [(&str, Vec<u8>); 5] = [
        ("no NUL byte first", b"AUTH EXTERNAL\r\n".to_vec()),
        ("a message at once", PlainMessage::to_bus("Hello").encode()),
        ("a line without an end", line_of(40_000)),
        ("rejected too often", [b"\0".to_vec(), b"AUTH NONSENSE\r\n".repeat(20)].concat()),
        ("HTTP", b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n".to_vec()),
    ];
    check_all(
        &rows,
        |(name, _)| (*name).to_owned(),
        |(_, bytes)| {
            let mut stream = PeerStream::connect(bus.address());
            stream.write(bytes);
            assert!(stream.is_closed());
        },
    );
    assert!(bus.peer().is_alive());
    bus.stop();
}

/// A client that sends nothing, or disconnects in the handshake, does not affect other clients.
#[test]
fn an_incomplete_handshake_does_not_affect_others() {
    let bus = BusUnderTest::session();
    let mut silent = PeerStream::connect(bus.address());
    for part in ["", "\0", "\0AUTH", "\0AUTH EXTERNAL 30\r\n", "\0AUTH EXTERNAL\r\nDATA\r\nBEGI"] {
        let mut stream = PeerStream::connect(bus.address());
        stream.write(part.as_bytes());
    }
    assert!(bus.peer().is_alive());
    assert!(silent.is_silent(Duration::from_millis(50)));
    bus.stop();
}

/// The first message must be Hello. Any other message to the bus gets an error, and the client may
/// try again; a message to another destination ends the connection.
#[test]
fn messages_before_hello_are_refused() {
    let bus = BusUnderTest::session();
    let mut other = bus.peer();
    let before = || TestPeer::before_hello(bus.address(), ReceivedDescriptors::Unwanted);
    let mut peer = before();
    let reply = peer.call(PlainMessage::to_bus("ListNames"));
    assert_eq!(reply.error_name(), "AccessDenied", "{}", reply.summary());
    assert!(peer.hello().first_text().starts_with(":1."));
    let to_other = PlainMessage::call(other.name(), "/x", "com.example.I", "M");
    let signal = PlainMessage::signal("/x", "com.example.I", "M");
    for message in [to_other, signal] {
        let mut peer = before();
        peer.send(message);
        assert!(peer.until_closed().is_empty());
    }
    assert_eq!(other.collect().len(), 0);
    bus.stop();
}
