//! Properties of our proxy that do not depend on the decisions, or that the original does not have.

use std::fs::{self, File};
use std::os::fd::AsFd as _;
use std::time::{Duration, Instant};

use conformance::{
    BusUnderTest, ExternalProgram, PeerStream, PlainMessage, PlainValue, ReceivedDescriptors,
    Signal, TestPeer, eventually, field, flag, hex, kind,
};

use crate::proxy::{ProxyProgram, RunningProxy, original_is_old};

/// A name that a peer owns, and that the rules of most tests mention.
const NAME: &str = "com.example.Service";

/// A bus with a peer that owns [`NAME`], and a proxy.
fn with_service(options: &[&str]) -> (BusUnderTest, TestPeer, RunningProxy) {
    let bus = BusUnderTest::session();
    let mut service = bus.peer();
    service.request_name(NAME, 0);
    let proxy = ProxyProgram::Ours.start(bus.address(), options);
    (bus, service, proxy)
}

pub(crate) fn everything_passes_without_a_filter() {
    let (_bus, mut service, proxy) = with_service(&["--see=org.example"]);
    let mut client = TestPeer::connect(proxy.address());
    client.round_trip(&mut service);
    service.round_trip(&mut client);
    client.add_match("eavesdrop=true,type='signal'");
    let monitor = PlainMessage::call(
        "org.freedesktop.DBus",
        "/org/freedesktop/DBus",
        "org.freedesktop.DBus.Monitoring",
        "BecomeMonitor",
    );
    let reply = client.call(monitor.arg(PlainValue::texts(&[])).arg(PlainValue::U32(0)));
    assert_eq!(reply.kind, kind::RETURN, "{}", reply.summary());
}

pub(crate) fn each_program_gets_its_replies_in_order() {
    let (_bus, _service, proxy) = with_service(&["--filter", "--see=com.example.Service"]);
    let mut client = TestPeer::connect(proxy.address());
    let mut sent = Vec::new();
    for number in 0..500 {
        let call = match number % 5 {
            0 => PlainMessage::some_call(NAME),
            1 => PlainMessage::some_call("com.example.Hidden"),
            2 => PlainMessage::asking("GetNameOwner", "com.example.Hidden"),
            3 => PlainMessage::to_bus("ListNames"),
            _ => PlainMessage::to_bus("GetId"),
        };
        sent.push(Some(client.send(call)));
    }
    let received = sent.iter().map(|_| client.receive().and_then(|reply| reply.reply_serial()));
    assert_eq!(received.collect::<Vec<_>>(), sent);
}

pub(crate) fn proxies_can_be_nested() {
    use ProxyProgram::{Original, Ours};
    for (outer, inner) in [(Ours, Ours), (Original, Ours), (Ours, Original)] {
        // An old original wants serials that increase, also around the calls of another proxy.
        if outer == Original && original_is_old() {
            continue;
        }
        let bus = BusUnderTest::session();
        let mut service = bus.peer();
        service.request_name(NAME, 0);
        let options = ["--filter", "--talk=com.example.*", "--see=org.example.Seen"];
        let outer = outer.start(bus.address(), &options);
        let inner = inner.start(outer.address(), &["--filter", "--talk=com.example.*"]);
        let mut client = TestPeer::connect(inner.address());
        client.add_match("type='signal'");
        let call = client.send(PlainMessage::some_call(NAME));
        let found = service.receive().expect("a call");
        service.send(PlainMessage::reply(&found));
        assert_eq!(client.receive().and_then(|reply| reply.reply_serial()), Some(call));
        let unique = service.name().to_owned();
        let call = client.send(PlainMessage::some_call(&unique));
        let found = service.receive().expect("a call");
        service.send(PlainMessage::reply(&found));
        assert_eq!(client.receive().and_then(|reply| reply.reply_serial()), Some(call));
        service.send(PlainMessage::some_signal());
        assert_eq!(
            client.receive().map(|signal| signal.member().to_owned()),
            Some("Signal".into())
        );
        let hidden = client.call(PlainMessage::some_call("org.example.Seen"));
        assert_eq!(hidden.error_name(), "ServiceUnknown");
    }
}

pub(crate) fn all_serials_are_free_for_the_client() {
    let (_bus, _service, proxy) = with_service(&["--filter", "--talk=com.example.*", "--see=a.b"]);
    let mut client = TestPeer::before_hello(proxy.address(), ReceivedDescriptors::Unwanted);
    let mut hello = PlainMessage::to_bus("Hello");
    hello.serial = u32::MAX;
    client.send(hello);
    let serials = [1, 2, 3, u32::MAX - 65536, u32::MAX - 1, u32::MAX, 5, 4];
    for serial in serials {
        let mut call = PlainMessage::some_call("com.hidden");
        call.serial = serial;
        client.send(call);
    }
    let mut replies = std::iter::from_fn(|| client.receive()).filter_map(|m| m.reply_serial());
    let found: Vec<_> = replies.by_ref().take(serials.len() + 1).collect();
    assert_eq!(found, [&[u32::MAX], &serials[..]].concat());
}

pub(crate) fn callers_with_the_same_serial_all_get_replies() {
    let (bus, _service, proxy) = with_service(&["--filter"]);
    let mut client = TestPeer::connect(proxy.address());
    let mut callers = [bus.peer(), bus.peer(), bus.peer()];
    let name = client.name().to_owned();
    for caller in &mut callers {
        let mut call = PlainMessage::some_call(&name);
        call.serial = 77;
        caller.send(call);
        caller.collect();
    }
    let calls: Vec<_> = callers.iter().filter_map(|_| client.receive()).collect();
    for call in calls.iter().rev() {
        client.send(PlainMessage::reply(call));
        // Only the first reply is expected.
        client.send(PlainMessage::reply(call));
    }
    client.collect();
    for caller in &mut callers {
        let replies = caller.collect();
        let serials: Vec<_> = replies.iter().map(PlainMessage::reply_serial).collect();
        assert_eq!(serials, [Some(77)]);
    }
}

/// The numbers of descriptors of messages. The bus allows 16.
const COUNTS: [usize; 7] = [0, 1, 0, 3, 16, 0, 2];

pub(crate) fn only_replies_to_a_caller_pass_as_replies() {
    let (bus, mut hidden, proxy) = with_service(&["--filter"]);
    let mut client = TestPeer::connect(proxy.address());
    let mut caller = bus.peer();
    let call = caller.send(PlainMessage::some_call(client.name()));
    let found = client.receive().expect("a call");
    let quoting =
        |message: PlainMessage| message.field(field::REPLY_SERIAL, PlainValue::U32(found.serial));
    let name = hidden.name().to_owned();
    for destination in [NAME, &name] {
        let refused = client.call(quoting(PlainMessage::some_call(destination)));
        assert_eq!(refused.kind, kind::ERROR, "{}", refused.summary());
        client.send(quoting(PlainMessage::some_signal().text(field::DESTINATION, destination)));
        client.send(PlainMessage::reply(&found).text(field::DESTINATION, destination));
    }
    client.send(PlainMessage::reply(&found).without(field::DESTINATION));
    client.collect();
    let received: Vec<_> = hidden.collect().iter().map(PlainMessage::summary).collect();
    assert_eq!(received, [""; 0]);
    client.send(PlainMessage::reply(&found));
    assert_eq!(caller.receive().and_then(|reply| reply.reply_serial()), Some(call));
}

pub(crate) fn descriptors_stay_with_their_messages() {
    for options in [&["--filter", "--talk=com.example.*"][..], &[]] {
        let (_bus, mut service, proxy) = with_service(options);
        let mut client = TestPeer::connect(proxy.address());
        let file = File::open("/dev/null").expect("the system has it");
        for count in COUNTS {
            let descriptors = vec![file.as_fd(); count];
            let mut call = PlainMessage::some_call(NAME).flags(flag::NO_REPLY_EXPECTED);
            if count > 0 {
                let number = u32::try_from(count).expect("a small number");
                call = call.field(field::UNIX_FDS, PlainValue::U32(number));
            }
            let call = client.numbered(call);
            if count > 0 {
                client.send_with_descriptors(&call.encode(), &descriptors);
            } else {
                client.send(call);
            }
        }
        let counts: Vec<_> = std::iter::from_fn(|| service.receive())
            .filter(|message| message.kind == kind::CALL)
            .map(|call| call.descriptors.len())
            .take(COUNTS.len())
            .collect();
        assert_eq!(counts, COUNTS);
    }
}

pub(crate) fn large_messages_pass() {
    let (_bus, mut service, proxy) = with_service(&["--filter", "--talk=com.example.*"]);
    let mut client = TestPeer::connect(proxy.address());
    let text = "x".repeat(8 * 1024 * 1024);
    let call = PlainMessage::some_call(NAME).arg(PlainValue::text(&text));
    let writer = std::thread::spawn(move || {
        let serial = client.send(call);
        let reply = client.receive().expect("a reply");
        assert_eq!(reply.reply_serial(), Some(serial));
        reply.first_text().len()
    });
    let call = loop {
        let message = service.receive().expect("a call");
        if message.kind == kind::CALL {
            break message;
        }
    };
    assert_eq!(call.first_text(), text);
    service.send(PlainMessage::reply(&call).arg(PlainValue::text(&text)));
    assert_eq!(writer.join().expect("the reply arrives"), text.len());
}

pub(crate) fn a_client_that_does_not_read_fills_no_memory() {
    let (_bus, mut service, proxy) = with_service(&["--filter", "--talk=com.example.*"]);
    let mut sleeper = TestPeer::connect(proxy.address());
    let mut other = TestPeer::connect(proxy.address());
    sleeper.add_match("type='signal'");
    let before = resident(proxy.process.id());
    let text = "x".repeat(64 * 1024);
    for _ in 0..600 {
        service.send(PlainMessage::some_signal().arg(PlainValue::text(&text)));
    }
    service.collect();
    // The proxy has read what it reads, and serves other programs.
    let started = Instant::now();
    other.round_trip(&mut service);
    assert!(started.elapsed() < Duration::from_secs(2), "{:?}", started.elapsed());
    let grown = resident(proxy.process.id()).saturating_sub(before);
    assert!(grown < 4 * 1024, "the proxy needs {grown} KiB more");
    // The sleeper wakes up, and gets the signals in order, as far as the bus had space for them.
    let signals: Vec<_> = (0..50).filter_map(|_| sleeper.receive()).collect();
    assert!(signals.len() == 50 && signals.iter().all(|signal| signal.member() == "Signal"));
    drop(sleeper);
    other.round_trip(&mut service);
}

/// The resident memory of a process, in KiB.
fn resident(process: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).expect("it runs");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("a line");
    line.trim().trim_end_matches(" kB").parse().expect("a number")
}

pub(crate) fn messages_of_a_client_that_left_are_delivered() {
    let (_bus, mut service, proxy) = with_service(&["--filter", "--talk=com.example.*"]);
    service.add_match("type='signal',interface='com.example.I'");
    let mut client = TestPeer::connect(proxy.address());
    proxy.process.signal(Signal::STOP);
    for number in 0..200 {
        let signal = PlainMessage::signal("/x", "com.example.I", "Numbered");
        client.send(signal.arg(PlainValue::U32(number)));
    }
    // The reply to this call cannot be delivered.
    client.send(PlainMessage::to_bus("GetId"));
    drop(client);
    proxy.process.signal(Signal::CONT);
    let numbers = std::iter::from_fn(|| service.receive())
        .filter(|message| message.member() == "Numbered")
        .take(200)
        .filter_map(|message| message.first_u32());
    assert_eq!(numbers.collect::<Vec<_>>(), (0..200).collect::<Vec<_>>());
}

pub(crate) fn malformed_data_ends_only_its_connection() {
    let (_bus, mut service, mut proxy) = with_service(&["--filter", "--talk=com.example.*"]);
    let mut other = TestPeer::connect(proxy.address());
    let broken_body = {
        let mut call = PlainMessage::asking("AddMatch", "type='signal'");
        call.serial = 9;
        let mut bytes = call.encode();
        bytes.pop();
        bytes.push(b'x');
        bytes
    };
    let too_long = [b"l\x01\0\x01".as_slice(), &[0xff; 12]].concat();
    for bytes in [&b"x"[..], &[0; 64], &[0xff; 64], &too_long, &broken_body] {
        let mut client = TestPeer::connect(proxy.address());
        client.send_bytes(bytes);
        client.send_bytes(&[0xff; 16]);
        assert!(client.until_closed().is_empty());
    }
    for line in ["AUTH\nEXTERNAL", "auth", " AUTH", "AUTH \x01", ""] {
        let mut stream = PeerStream::connect(proxy.address());
        stream.write(b"\0");
        assert_eq!(stream.say(line), None, "{line:?}");
    }
    let mut stream = PeerStream::connect(proxy.address());
    stream.write(&[b'A'; 40_000]);
    assert!(stream.is_closed());
    // An incomplete message at the end is dropped.
    let mut client = TestPeer::connect(proxy.address());
    client.send_bytes(b"l\x01\0\x01\0\0\0\0");
    drop(client);
    other.round_trip(&mut service);
    assert_eq!(proxy.process.ended(), None);
    assert!(proxy.path().exists());
}

pub(crate) fn the_handshake_is_forwarded_in_any_pieces() {
    let (_bus, _service, proxy) = with_service(&["--filter"]);
    let uid = hex(rustix::process::geteuid().as_raw().to_string().as_bytes());
    let mut hello = PlainMessage::to_bus("Hello");
    hello.serial = 1;
    let lines = format!("\0AUTH EXTERNAL {uid}\r\nNEGOTIATE_UNIX_FD\r\nBEGIN\r\n");
    let all = [lines.as_bytes(), &hello.encode()].concat();
    for size in [1, 7, all.len()] {
        let mut stream = PeerStream::connect(proxy.address());
        for piece in all.chunks(size) {
            stream.write(piece);
        }
        assert!(stream.read_line().is_some_and(|line| line.starts_with("OK ")));
        assert_eq!(stream.read_line().as_deref(), Some("AGREE_UNIX_FD"));
        let mut client = TestPeer::over(stream);
        let reply = client.receive().expect("a reply");
        assert_eq!((reply.kind, reply.reply_serial()), (kind::RETURN, Some(1)));
    }
}

pub(crate) fn unmodified_programs_work_behind_the_proxy() {
    let options = ["--filter", "--see=com.example.*", "--own=org.example.*"];
    let (_bus, _service, proxy) = with_service(&options);
    let run = |program: &str, package: &str, words: &[&str]| {
        let program = ExternalProgram::named(program, package).args(words);
        program.env("DBUS_SESSION_BUS_ADDRESS", proxy.address()).env("LC_ALL", "C").run()
    };
    let list = ["call", "--session", "-d", "org.freedesktop.DBus", "-o", "/", "-m"];
    let list = [&list[..], &["org.freedesktop.DBus.ListNames"]].concat();
    let found = run("gdbus", "libglib2.0-bin", &list).success().stdout;
    // The unique names of the service and of the program itself are visible.
    assert!(found.contains(NAME) && found.matches("':").count() == 2, "{found}");
    let address = format!("--address={}", proxy.address());
    let found = run("busctl", "systemd", &[&address, "list", "--no-legend"]).success().stdout;
    assert!(found.contains(NAME), "{found}");
    let call = ["--session", "--print-reply", "--dest=com.example.Service", "/", "a.b.C"];
    let denied = run("dbus-send", "dbus-bin", &call).stderr;
    assert!(denied.starts_with("Error org.freedesktop.DBus.Error.AccessDenied: "), "{denied}");
    let script = "import dbus, dbus.service\nbus = dbus.SessionBus()\n\
        name = dbus.service.BusName('org.example.Owned', bus)\n\
        print(bus.get_name_owner('org.example.Owned') == bus.get_unique_name())\n\
        print(bus.name_has_owner('org.hidden'))\n";
    let python = ExternalProgram::python(script);
    let python = python.env("DBUS_SESSION_BUS_ADDRESS", proxy.address()).run().success();
    assert_eq!(python.stdout, "True\nFalse\n");
    eventually("a proxy that still listens", || proxy.path().exists().then_some(()));
}
