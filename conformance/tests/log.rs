//! Log records of refusals, losses and disconnects: the peer, the reason, the limit, and the amount
//! in use. These tests run only with Diligence, because dbus-daemon logs less.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::fs::OpenOptionsExt as _;
use std::os::unix::net::UnixDatagram;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use conformance::{
    BUS_NAME, BUS_PATH, BusUnderTest, ExternalProgram, PeerStream, PlainMessage, PlainValue,
    ReceivedDescriptors, RunAs, ScratchFolder, Signal, TestConfig, TestPeer, check_all, diligence,
    first_line, flag, kind, link_bus, mounts, run_tests, test_case,
};

fn main() -> ExitCode {
    run_tests([
        test_case!(a_full_standard_error_does_not_stop_the_bus).requires(diligence()),
        test_case!(log_lines_name_the_peer_the_reason_and_the_limit).requires(diligence()),
        test_case!(repeated_log_lines_are_counted).requires(diligence()),
        test_case!(the_journal_gets_fields)
            .requires(diligence())
            .requires(mounts())
            .requires(journal_folder()),
    ])
}

/// Standard error is a full pipe that no process reads. The bus continues to work, and later logs
/// how many lines it could not write.
fn a_full_standard_error_does_not_stop_the_bus() {
    let (mut reader, writer) = std::io::pipe().expect("a pipe");
    let path = format!("/proc/self/fd/{}", writer.as_raw_fd());
    // A separate open file description, so that the flags of the bus's one stay unchanged.
    let flags = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
    let mut other = File::options().write(true).custom_flags(flags).open(path).expect("a pipe");
    let scratch = ScratchFolder::new();
    let config = scratch.file("bus.conf", &TestConfig::session().text(scratch.path()));
    let mut running = ExternalProgram::shell("exec \"$@\" 2>&0 </dev/null")
        .arg(link_bus(&scratch))
        .args(["--nofork", "--print-address=1", "--config-file"])
        .arg(config)
        .stdin(OwnedFd::from(writer))
        .start();
    let address = running.wait_for("address", |stdout, _| first_line(stdout));
    let mut peer = TestPeer::connect(&address);
    while other.write(&[b'x'; 4096]).is_ok() {}
    for _ in 0..5 {
        running.signal(Signal::HUP);
        // Time for one reload per signal. The bus cannot report a reload, because its log is full.
        std::thread::sleep(Duration::from_millis(20));
    }
    let started = Instant::now();
    assert!(peer.is_alive());
    assert!(started.elapsed() < Duration::from_millis(500), "{:?}", started.elapsed());

    let mut buffer = vec![0; 1 << 20];
    let _ = reader.read(&mut buffer).expect("it is full");
    running.signal(Signal::HUP);
    let mut log = String::new();
    while !log.ends_with("Reloaded configuration\n") {
        let count = reader.read(&mut buffer).expect("the bus runs");
        log += &String::from_utf8_lossy(&buffer[..count]);
    }
    assert!(log.contains(" log lines were lost: standard error was not read\n"), "{log}");
    let _ = running.terminate().success();
}

/// The time in which lines of the same kind are counted together.
const WINDOW: Duration = Duration::from_secs(10);

/// An event that produces a log record.
struct Cause {
    name: &'static str,
    limit: Option<(&'static str, u64)>,
    provoke: fn(&BusUnderTest),
    /// Parts of one line, in this order.
    line: &'static [&'static str],
}

/// This process, in the format of log lines.
const SELF: &str = "(uid=<uid> pid=<pid> comm=\"<comm>\"";

#[rustfmt::skip]
const CAUSES: &[Cause] = &[
    Cause { name: "an invalid message", limit: None, provoke: invalid_message, line: &["Connection :1.0 ", SELF, ") com.example.Named was disconnected: it sent an invalid message: the first byte is not 'l' or 'B' (at byte 0)."] },
    Cause { name: "a bad handshake", limit: None, provoke: bad_handshake, line: &["Connection (no name yet) ", SELF, "was disconnected: it violated the authentication protocol: "] },
    Cause { name: "a slow handshake", limit: Some(("auth_timeout", 200)), provoke: slow_handshake, line: &["Connection (no name yet) ", SELF, "was disconnected: it did not authenticate and call Hello in time (auth_timeout) [auth_timeout=200, 2", " in use]."] },
    Cause { name: "no Hello", limit: None, provoke: no_hello, line: &["Connection (no name yet) ", SELF, "was disconnected: it sent a message to another peer before it called Hello."] },
    Cause { name: "a monitor that speaks", limit: None, provoke: speaking_monitor, line: &["Connection :1.0 ", SELF, "was disconnected: it is a monitor and sent a message."] },
    Cause { name: "a long message", limit: Some(("max_message_size", 1000)), provoke: long_message, line: &["Connection :1.0 ", SELF, "was disconnected: it sent an invalid message: it is 5", " bytes long, more than max_message_size=1000 (at byte 4) [max_message_size=1000, 5", " in use]."] },
    Cause { name: "too many names", limit: Some(("max_names_per_connection", 2)), provoke: many_names, line: &["A message of :1.0 ", SELF, "was refused: Connection \":1.0\" is not allowed to own more services", "[max_names_per_connection=2, 2 in use]"] },
    Cause { name: "too many rules", limit: Some(("max_match_rules_per_connection", 2)), provoke: many_rules, line: &["A message of :1.0 ", SELF, "was refused: Connection \":1.0\" is not allowed to add more match rules", "[max_match_rules_per_connection=2, 2 in use]"] },
    Cause { name: "too many calls", limit: Some(("max_replies_per_connection", 2)), provoke: many_calls, line: &["A message of :1.0 ", SELF, "was refused: The maximum number of pending replies per connection has been reached [max_replies_per_connection=2, 2 in use]"] },
    Cause { name: "too many connections", limit: Some(("max_connections_per_user", 2)), provoke: many_connections, line: &["A message of (no name yet) ", SELF, "was refused: The maximum number of active connections for UID", "[max_connections_per_user=2, 2 in use]"] },
    Cause { name: "a full queue", limit: Some(("max_outgoing_bytes", 50_000)), provoke: full_queue, line: &["A message of :1.0 ", SELF, "was refused: Rejected: destination has a full message queue", "[max_outgoing_bytes=50000, ", " in use] Its recipient does not read: :1.1 ", SELF, ") com.example.Sleeper."] },
    Cause { name: "lost signals", limit: Some(("max_outgoing_bytes", 50_000)), provoke: lost_signals, line: &["Connection :1.1 ", SELF, "does not keep up: ", " bytes are queued for it (max_outgoing_bytes=50000), and signals to it are dropped from now on, the first one from :1.0 ", SELF] },
    Cause { name: "lost and caught up", limit: Some(("max_outgoing_bytes", 50_000)), provoke: caught_up, line: &["Connection :1.1 ", SELF, "has caught up; it lost ", " signals."] },
];

fn log_lines_name_the_peer_the_reason_and_the_limit() {
    check_all(CAUSES, |cause| cause.name.to_owned(), Cause::check);
}

impl Cause {
    fn check(&self) {
        let config = TestConfig::session();
        let config = match self.limit {
            Some((name, value)) => config.limit(name, value),
            None => config,
        };
        let mut bus = BusUnderTest::start(&config);
        (self.provoke)(&bus);
        let parts: Vec<_> = self.line.iter().map(|part| fill_in(part)).collect();
        let process = bus.process();
        process.wait_for(self.name, |_, log| {
            log.lines().any(|line| has_in_order(line, &parts)).then_some(())
        });
        bus.stop();
    }
}

/// Replaces the placeholders by the data of this process.
fn fill_in(part: &str) -> String {
    let comm = std::fs::read_to_string("/proc/self/comm").expect("it has a name");
    part.replace("<uid>", &RunAs::own_uid().to_string())
        .replace("<pid>", &std::process::id().to_string())
        .replace("<comm>", comm.trim_end())
}

fn has_in_order(line: &str, parts: &[String]) -> bool {
    let mut rest = line;
    parts.iter().all(|part| match rest.split_once(part.as_str()) {
        Some((_, behind)) => {
            rest = behind;
            true
        }
        None => false,
    })
}

fn own(peer: &mut TestPeer, name: &str) {
    peer.call(PlainMessage::asking("RequestName", name).arg(PlainValue::U32(0)));
}

fn invalid_message(bus: &BusUnderTest) {
    let mut peer = bus.peer();
    own(&mut peer, "com.example.Named");
    peer.send_bytes(b"these bytes are not a message");
    peer.until_closed();
}

fn bad_handshake(bus: &BusUnderTest) {
    let mut stream = PeerStream::connect(bus.address());
    stream.write(b"GET / HTTP/1.0\r\n\r\n");
    assert!(stream.is_closed());
}

fn slow_handshake(bus: &BusUnderTest) {
    assert!(PeerStream::connect(bus.address()).is_closed());
}

fn no_hello(bus: &BusUnderTest) {
    let mut peer = TestPeer::before_hello(bus.address(), ReceivedDescriptors::Unwanted);
    peer.send(PlainMessage::some_signal());
    peer.until_closed();
}

fn speaking_monitor(bus: &BusUnderTest) {
    let mut peer = bus.peer();
    let monitoring = "org.freedesktop.DBus.Monitoring";
    let call = PlainMessage::call(BUS_NAME, BUS_PATH, monitoring, "BecomeMonitor");
    peer.call(call.arg(PlainValue::texts(&[])).arg(PlainValue::U32(0)));
    peer.send(PlainMessage::some_signal());
    peer.until_closed();
}

fn long_message(bus: &BusUnderTest) {
    let mut peer = bus.peer();
    peer.send(PlainMessage::some_signal().arg(PlainValue::text(&"x".repeat(5_000))));
    peer.until_closed();
}

fn many_names(bus: &BusUnderTest) {
    let mut peer = bus.peer();
    ["com.example.A", "com.example.B"].iter().for_each(|name| own(&mut peer, name));
}

fn many_rules(bus: &BusUnderTest) {
    let mut peer = bus.peer();
    for number in 0..3 {
        peer.call(PlainMessage::asking("AddMatch", &format!("member='M{number}'")));
    }
}

fn many_calls(bus: &BusUnderTest) {
    let [mut caller, callee] = [bus.peer(), bus.peer()];
    for _ in 0..2 {
        caller.send(PlainMessage::some_call(callee.name()));
    }
    caller.call(PlainMessage::some_call(callee.name()));
}

fn many_connections(bus: &BusUnderTest) {
    let _both = [bus.peer(), bus.peer()];
    TestPeer::before_hello(bus.address(), ReceivedDescriptors::Unwanted).hello();
}

/// Two clients, of which the second does not read.
fn sender_and_sleeper(bus: &BusUnderTest) -> [TestPeer; 2] {
    let [sender, mut sleeper] = [bus.peer(), bus.peer()];
    own(&mut sleeper, "com.example.Sleeper");
    [sender, sleeper]
}

fn full_queue(bus: &BusUnderTest) {
    let [mut sender, sleeper] = sender_and_sleeper(bus);
    let body = PlainValue::text(&"x".repeat(10_000));
    for _ in 0..1_000 {
        sender.send(
            PlainMessage::some_call(sleeper.name())
                .flags(flag::NO_REPLY_EXPECTED)
                .arg(body.clone()),
        );
        if !sender.collect().is_empty() {
            return;
        }
    }
    panic!("there is a limit");
}

fn send_many_signals(sender: &mut TestPeer) {
    let body = PlainValue::text(&"x".repeat(10_000));
    for _ in 0..100 {
        sender.send(PlainMessage::some_signal().arg(body.clone()));
        assert!(sender.is_alive());
    }
}

fn lost_signals(bus: &BusUnderTest) {
    let [mut sender, mut sleeper] = sender_and_sleeper(bus);
    sleeper.add_match("member='Signal'");
    send_many_signals(&mut sender);
}

fn caught_up(bus: &BusUnderTest) {
    let [mut sender, mut sleeper] = sender_and_sleeper(bus);
    sleeper.add_match("member='Signal'");
    send_many_signals(&mut sender);
    sleeper.drain();
    assert!(sleeper.is_alive());
}

/// Repeated refusals of the same kind and peer give two lines, and one with the number of the
/// others.
fn repeated_log_lines_are_counted() {
    let mut bus = BusUnderTest::start(&TestConfig::session().limit("max_names_per_connection", 1));
    let mut peer = bus.peer();
    let started = Instant::now();
    (0..1_205).for_each(|_| own(&mut peer, "com.example.TooMany"));
    assert!(started.elapsed() < WINDOW, "all within the time that is counted together");
    let summary = "... 1,203 more like this in 10 s from :1.0 ";
    let process = bus.process();
    let refused = eventually_for(2 * WINDOW, || {
        let log = process.stderr();
        let lines = log.lines().filter(|line| line.contains("was refused:")).count();
        log.contains(summary).then_some(lines)
    });
    assert_eq!(refused, Some(2), "of {} lines", process.stderr().lines().count());
    bus.stop();
}

fn eventually_for<T>(time: Duration, mut look: impl FnMut() -> Option<T>) -> Option<T> {
    let started = Instant::now();
    loop {
        let found = look();
        if found.is_some() || started.elapsed() > time {
            return found;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// The journal gets each fact as a field. A socket of this test takes the place of the journal's,
/// in the mount namespace of the bus only.
fn the_journal_gets_fields() {
    let (folder, links) = (ScratchFolder::new(), ScratchFolder::new());
    let unshare = with_journal_folder(&folder);
    let journal = UnixDatagram::bind(folder.join("socket")).expect("a scratch folder is writable");
    journal.set_read_timeout(Some(WINDOW)).expect("the time is not zero");
    let config = TestConfig::session().limit("max_names_per_connection", 2);
    let bus =
        BusUnderTest::start_with(&config, |_| unshare.arg(link_bus(&links)).arg("--syslog-only"));
    many_names(&bus);
    let entry = receive_entry(&journal, "DBUS_EVENT=refused");
    let pid = std::process::id();
    for field in [
        "PRIORITY=4",
        "SYSLOG_IDENTIFIER=dbus-daemon",
        "MESSAGE_ID=aabd767d0a4c4cc197610bd2d177cc4c",
        "DBUS_BUS_TYPE=session",
        "DBUS_CAUSE=max_names_per_connection",
        "DBUS_LIMIT=max_names_per_connection",
        "DBUS_LIMIT_VALUE=2",
        "DBUS_LIMIT_USAGE=2",
        "DBUS_UNIQUE_NAME=:1.0",
        "DBUS_NAME=com.example.A",
        &format!("DBUS_PID={pid}"),
        &format!("OBJECT_PID={pid}"),
        &fill_in("DBUS_COMM=<comm>"),
    ] {
        assert!(entry.lines().any(|line| line == field), "no {field} in\n{entry}");
    }
    let reply = bus.peer().call(PlainMessage::call(
        "org.freedesktop.DBus",
        "/org/freedesktop/DBus",
        "org.diligence.Daemon1",
        "Reexecute",
    ));
    assert_eq!(reply.kind, kind::RETURN, "{}", reply.summary());
    let entry = receive_entry(&journal, "DBUS_EVENT=replaced");
    for field in ["PRIORITY=5", "MESSAGE_ID=9e0b7c54d1f2483aa6c8154fe2703bd6"] {
        assert!(entry.lines().any(|line| line == field), "no {field} in\n{entry}");
    }
    for field in ["DBUS_OLD_VERSION=0.", "DBUS_NEW_VERSION=0.", "DBUS_PAUSED_USEC="] {
        assert!(entry.lines().any(|line| line.starts_with(field)), "no {field} in\n{entry}");
    }
    let ran = bus.stop();
    assert!(!ran.stderr.contains("was refused"), "it is in the journal: {}", ran.stderr);
}

/// The requirement that the folder of the journal's socket exists, so that another can be mounted
/// there.
fn journal_folder() -> Result<(), String> {
    let exists = Path::new(JOURNAL).is_dir();
    exists.then_some(()).ok_or_else(|| format!("needs the folder {JOURNAL}"))
}

const JOURNAL: &str = "/run/systemd/journal";

/// A program that runs another one with `folder` mounted at the folder of the journal's socket.
fn with_journal_folder(folder: &ScratchFolder) -> ExternalProgram {
    let script = format!("mount --bind \"$0\" {JOURNAL} && exec \"$@\"");
    let unshare = ExternalProgram::named("unshare", "util-linux");
    unshare.args(["--mount", "sh", "-c", &script]).arg(folder.path())
}

/// The first entry that contains `field`.
fn receive_entry(journal: &UnixDatagram, field: &str) -> String {
    loop {
        let mut buffer = [0; 65_536];
        let len = journal.recv(&mut buffer).expect("an entry");
        let entry = String::from_utf8_lossy(&buffer[..len]).into_owned();
        if entry.lines().any(|line| line == field) {
            return entry;
        }
    }
}
