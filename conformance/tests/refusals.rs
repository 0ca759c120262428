//! Every refusal is counted by its cause: in the statistics, in the history, in the metrics, and in
//! fields of log records. These tests run only with Diligence, because dbus-daemon counts nothing.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use conformance::statistics::{cause_count, dicts, scrape, totals};
use conformance::{
    BusUnderTest, PeerStream, PlainMessage, PlainValue, ReceivedDescriptors, RunAs, ScratchFolder,
    TestConfig, TestPeer, check_all, diligence, eventually, root, run_tests, test_case,
};

fn main() -> ExitCode {
    run_tests([
        test_case!(refusals_are_counted_by_cause).requires(diligence()),
        test_case!(a_reload_can_move_the_metrics_socket).requires(diligence()),
        test_case!(the_metrics_socket_is_for_its_owner_only).requires(root()).requires(diligence()),
        test_case!(files_that_root_created_are_removed_with_the_bus)
            .requires(root())
            .requires(diligence()),
    ])
}

/// A refusal, and its counters.
struct RefusalCase {
    name: &'static str,
    config: fn() -> TestConfig,
    provoke: fn(&BusUnderTest),
    /// The key in the totals.
    totals: &'static str,
    /// The family of metrics.
    family: &'static str,
    cause: &'static str,
    /// The minimum count; a slow machine repeats some refusals.
    count: u64,
    /// The kind of the incident in the history.
    kind: &'static str,
}

const REJECTED: (&str, &str) = ("RejectedCauses", "rejected_connections");
const DELAYED: (&str, &str) = ("DelayCauses", "delayed_connections");
const WITHHELD: (&str, &str) = ("WithholdingCauses", "withheld_messages");

const fn refused(
    name: &'static str,
    config: fn() -> TestConfig,
    provoke: fn(&BusUnderTest),
    (totals, family): (&'static str, &'static str),
    (count, cause): (u64, &'static str),
    kind: &'static str,
) -> RefusalCase {
    RefusalCase { name, config, provoke, totals, family, cause, count, kind }
}

#[rustfmt::skip]
const REFUSED: &[RefusalCase] = &[
    refused("a bad handshake", TestConfig::session, bad_handshake, REJECTED, (1, "handshake"), "disconnected"),
    refused("another user's name", TestConfig::session, wrong_identity, REJECTED, (1, "authentication"), "disconnected"),
    refused("a slow handshake", impatient, silence, REJECTED, (1, "auth-timeout"), "disconnected"),
    refused("too many connections", crowded, second_hello, REJECTED, (2, "max_completed_connections"), "refused"),
    refused("too often", slow, storm, DELAYED, (16, "max_connections_per_second_per_user"), "delayed"),
    refused("much too often", slow, storm, REJECTED, (2, "max_connections_per_second_per_user"), "rejected"),
    refused("a broadcast that one may not receive", deaf, three_signals, WITHHELD, (3, "receive-policy"), "withheld"),
    refused("a broadcast that one may not send", mute, three_signals, WITHHELD, (3, "send-policy"), "withheld"),
];

fn refusals_are_counted_by_cause() {
    check_all(REFUSED, |refused| refused.name.to_owned(), RefusalCase::check);
}

impl RefusalCase {
    fn check(&self) {
        let scratch = ScratchFolder::new();
        let metrics = scratch.join("metrics");
        let option = format!("--metrics-socket={}", metrics.display());
        let bus = BusUnderTest::start_with(&(self.config)(), |program| program.arg(option));
        let mut watcher = bus.peer();
        (self.provoke)(&bus);
        let enough = |count: &u64| *count >= self.count;
        let count = eventually(self.name, || self.counted(&mut watcher).filter(enough));
        let Self { family, cause, .. } = self;
        let sample = format!("diligence_bus_{family}_total{{cause=\"{cause}\"}} {count}\n");
        let (_, document) = scrape(&metrics);
        assert!(document.contains(&sample), "{sample} in\n{document}");
        let mut history = dicts(&mut watcher, "GetHistory").into_iter();
        let incident = history.find(|it| it["Kind"] == PlainValue::text(self.kind));
        let incident = incident.unwrap_or_else(|| panic!("no sample is {}", self.kind));
        assert_eq!(incident["Cause"], PlainValue::text(self.cause));
        assert_eq!(incident["Count"], PlainValue::U64(count));
        assert_eq!(incident["ProcessID"], PlainValue::U32(std::process::id()));
        bus.stop();
    }

    fn counted(&self, watcher: &mut TestPeer) -> Option<u64> {
        cause_count(&totals(watcher), self.totals, self.cause)
    }
}

fn impatient() -> TestConfig {
    TestConfig::session().limit("auth_timeout", 200)
}

fn crowded() -> TestConfig {
    TestConfig::session().limit("max_completed_connections", 1)
}

/// A limit of one connection per second, with a burst of one.
fn slow() -> TestConfig {
    TestConfig::session().element(
        "<?diligence <limit name='max_connections_per_second_per_user'>1</limit>\
         <limit name='max_connection_burst_per_user'>1</limit>?>",
    )
}

fn deaf() -> TestConfig {
    TestConfig::session()
        .policy("context='mandatory'", "<deny receive_interface='com.example.Interface'/>")
}

fn mute() -> TestConfig {
    TestConfig::session()
        .policy("context='mandatory'", "<deny send_interface='com.example.Interface'/>")
}

fn bad_handshake(bus: &BusUnderTest) {
    let mut stream = PeerStream::connect(bus.address());
    stream.write(b"GET / HTTP/1.0\r\n\r\n");
    assert!(stream.is_closed());
}

/// Asks for the mechanisms, which is not an attempt, then claims to be another user, and
/// disconnects.
fn wrong_identity(bus: &BusUnderTest) {
    drop(PeerStream::connect(bus.address()));
    let mut curious = PeerStream::connect(bus.address());
    curious.write(b"\0AUTH\r\n");
    curious.read_line().expect("the mechanisms");
    drop(curious);
    let mut stream = PeerStream::connect(bus.address());
    stream.write(b"\0AUTH EXTERNAL 34323432343234\r\n");
    let answer = stream.read_line().expect("an answer");
    assert!(answer.starts_with("REJECTED"), "{answer}");
}

fn silence(bus: &BusUnderTest) {
    assert!(PeerStream::connect(bus.address()).is_closed());
}

fn second_hello(bus: &BusUnderTest) {
    for _ in 0..2 {
        TestPeer::before_hello(bus.address(), ReceivedDescriptors::Unwanted).hello();
    }
}

/// Sixteen connections may wait; this opens two more.
fn storm(bus: &BusUnderTest) {
    let mut storm: Vec<_> = (0..20).map(|_| PeerStream::connect(bus.address())).collect();
    let refused = storm.split_off(18);
    assert!(refused.into_iter().all(|mut stream| stream.is_closed()));
}

fn three_signals(bus: &BusUnderTest) {
    let [mut sender, mut listener] = [bus.peer(), bus.peer()];
    listener.add_match("interface='com.example.Interface'");
    for _ in 0..3 {
        sender.send(PlainMessage::signal("/", "com.example.Interface", "Signal"));
    }
    assert!(sender.is_alive() && listener.is_alive());
}

fn telling_at(path: &Path) -> TestConfig {
    let element = format!("<metrics_socket>{}</metrics_socket>", path.display());
    TestConfig::session().element(&format!("<?diligence {element}?>"))
}

/// Writes another configuration, and reloads it.
fn reconfigure(bus: &BusUnderTest, config: &TestConfig) {
    bus.scratch().file("bus.conf", &config.text(bus.scratch().path()));
    let reply = bus.peer().call(PlainMessage::to_bus("ReloadConfig"));
    assert_eq!(reply.error_name(), "", "{}", reply.summary());
}

/// A reload can change the path of the metrics socket.
fn a_reload_can_move_the_metrics_socket() {
    let scratch = ScratchFolder::new();
    let [first, second, third] = ["first", "second", "third"].map(|name| scratch.join(name));
    let mut bus = BusUnderTest::start(&telling_at(&first));
    assert!(scrape(&first).1.contains("diligence_bus_active_connections 0\n"));
    reconfigure(&bus, &telling_at(&second));
    assert!(scrape(&second).1.contains("# EOF"));
    assert!(!first.exists(), "it has moved");
    reconfigure(&bus, &telling_at(&PathBuf::from("/nowhere/at/all")));
    let log = bus.process().stderr();
    assert!(log.contains("Cannot serve metrics at /nowhere/at/all: No such file"), "{log}");
    assert!(scrape(&second).1.contains("diligence_bus_faults_total{cause=\"metrics\"} 1\n"));
    reconfigure(&bus, &TestConfig::session());
    assert!(!second.exists(), "nobody wants it");
    bus.stop();

    let option = format!("--metrics-socket={}", third.display());
    let bus = BusUnderTest::start_with(&telling_at(&first), |program| program.arg(option));
    reconfigure(&bus, &telling_at(&second));
    assert!(scrape(&third).1.contains("# EOF"), "the command line has the last word");
    assert!(!first.exists() && !second.exists());
    bus.stop();
    assert!(!third.exists());
}

/// Only the owner of the metrics socket can connect to it.
fn the_metrics_socket_is_for_its_owner_only() {
    let scratch = ScratchFolder::new();
    conformance::set_mode(scratch.path(), 0o755);
    let path = scratch.join("metrics");
    let bus = BusUnderTest::start(&telling_at(&path));
    let mode = std::fs::metadata(&path).expect("it is there").mode();
    assert_eq!(mode & 0o777, 0o600);
    let connected = RunAs::NOBODY.act(|| std::os::unix::net::UnixStream::connect(&path).map(drop));
    let error = connected.expect_err("another user").kind();
    assert_eq!(error, std::io::ErrorKind::PermissionDenied);
    assert!(scrape(&path).1.contains("# EOF"));
    bus.stop();
}

/// If root started the bus and it changed its user, the bus still removes the files that root
/// created, where it can.
fn files_that_root_created_are_removed_with_the_bus() {
    let scratch = ScratchFolder::new();
    let folder = std::env::temp_dir();
    for (metrics, is_kept) in [
        (folder.join(format!("diligence-metrics-{}", std::process::id())), false),
        (scratch.join("metrics"), true),
    ] {
        let config = telling_at(&metrics)
            .element("<user>nobody</user>")
            .listen("nonce-tcp:host=127.0.0.1,family=ipv4");
        let mut bus = BusUnderTest::start(&config);
        let (_, nonce) = bus.address().split_once("noncefile=").expect("a file");
        let nonce = PathBuf::from(nonce.split(',').next().expect("its path"));
        for file in [&nonce, &metrics] {
            let owner = std::fs::metadata(file).expect("it is there").uid();
            assert_eq!(owner, RunAs::NOBODY.uid, "{file:?}");
        }
        let log = bus.process().stderr();
        assert_eq!(log.contains("will be left behind at exit"), is_kept, "{log}");
        bus.stop();
        assert!(!nonce.parent().expect("a folder").exists(), "{nonce:?}");
        assert_eq!(metrics.exists(), is_kept, "{metrics:?}");
    }
}
