//! The bus is killed repeatedly. Clients see the disconnect, the next bus takes the place of the
//! last one, and clients that reconnect continue.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use conformance::differential::{SeededRandom, seeds, start_reference};
use conformance::{
    BusUnderTest, ExternalProgram, PeerStream, PlainMessage, PlainValue, RunAs, ScratchFolder,
    Signal, StartedProgram, TestConfig, TestPeer, eventually, hex, installed, kind, set_mode,
};

use crate::form::TestDuration;
use crate::numbered::{self, Sequence};
use crate::stop_flag::StopFlag;

const CLIENTS: usize = 8;

/// Longer than it takes to notice that a bus has ended.
const AT_ONCE: Duration = Duration::from_secs(1);

/// The results of a client over all its connections.
#[derive(Debug, Default)]
struct Life {
    connections: u32,
    signals: u32,
    /// Signals that were in flight when a bus was killed.
    cut_off: u32,
}

pub(crate) fn clients_reconnect_after_the_bus_is_killed() {
    let form = TestDuration::requested();
    let rounds = form.pick(5, 100);
    let seed = seeds(1).next().expect("one seed");
    let mut random = SeededRandom::from_seed(seed);
    let folder = ScratchFolder::new();
    let address = format!("unix:path={}/bus", folder.path().display());
    let config = TestConfig::session().listen(&address);
    let (stop, busy) = (StopFlag::default(), AtomicU32::new(0));
    let (lives, slowest) = std::thread::scope(|scope| {
        let ends = stop.when_dropped();
        let mut bus = BusUnderTest::start(&config);
        let clients: Vec<_> =
            (0..CLIENTS).map(|_| scope.spawn(|| live(&address, &busy, &stop))).collect();
        let mut slowest = Duration::ZERO;
        for _ in 0..rounds {
            wait_for(&busy, CLIENTS);
            // The bus is killed at a random moment of the traffic.
            std::thread::sleep(Duration::from_millis(random.below(100) as u64));
            let mut half_in = PeerStream::connect(&address);
            half_in.write(b"\0AUTH\r\n");
            bus.process().signal(Signal::KILL);
            wait_for(&busy, 0);
            assert!(half_in.is_closed());
            assert!(folder.join("bus").exists(), "a killed bus leaves its socket");
            let started = Instant::now();
            bus = BusUnderTest::start(&config);
            slowest = slowest.max(started.elapsed());
        }
        wait_for(&busy, CLIENTS);
        drop(ends);
        let lives: Vec<_> = clients.into_iter().map(|it| it.join().expect("ends well")).collect();
        bus.stop();
        (lives, slowest)
    });
    let sum = |of: fn(&Life) -> u32| lives.iter().map(of).sum::<u32>();
    assert!(lives.iter().all(|life| life.connections == rounds + 1), "{lives:?}");
    form.report(&format!(
        "killed bus: {rounds} times under {CLIENTS} clients; {} connections; {} signals, each once \
         and in order; {} were on their way to a bus that was killed; a new bus there within \
         {slowest:?}",
        sum(|life| life.connections),
        sum(|life| life.signals),
        sum(|life| life.cut_off),
    ));
}

fn wait_for(busy: &AtomicU32, count: usize) {
    eventually(&format!("{count} clients to be connected"), || {
        (busy.load(Ordering::Relaxed) as usize == count).then_some(())
    });
}

/// Connects, sends and receives until the bus has ended, and connects again.
fn live(address: &str, busy: &AtomicU32, stop: &StopFlag) -> Life {
    let mut life = Life::default();
    while !stop.is_set() {
        let Some(mut peer) = PeerStream::dial(address).ok().and_then(log_in) else {
            // There is no bus to connect to until the next one has started.
            std::thread::sleep(Duration::from_millis(1));
            continue;
        };
        let member = format!("Of{}", peer.name().replace([':', '.'], "_"));
        peer.add_match(&numbered::rule(&member));
        life.connections += 1;
        busy.fetch_add(1, Ordering::Relaxed);
        let sent = echo(&mut peer, &member, stop, &mut life.signals);
        life.cut_off += sent;
        busy.fetch_sub(1, Ordering::Relaxed);
    }
    life
}

/// `None` if the bus was killed during the handshake.
fn log_in(mut stream: PeerStream) -> Option<TestPeer> {
    let uid = hex(RunAs::own_uid().to_string().as_bytes());
    stream.write(b"\0");
    stream.say(&format!("AUTH EXTERNAL {uid}"))?;
    stream.write(b"BEGIN\r\n");
    let mut peer = TestPeer::over(stream);
    assert_eq!(peer.hello().kind, kind::RETURN);
    Some(peer)
}

/// Sends signals to itself, and checks that each arrives once and in order, until the bus or the
/// test ends. Returns the number of signals that did not arrive.
fn echo(peer: &mut TestPeer, member: &str, stop: &StopFlag, came: &mut u32) -> u32 {
    let mut sequence = Sequence::default();
    while !stop.is_set() {
        for ahead in 0..10 {
            peer.send(numbered::signal(member, sequence.count() + ahead, 100));
        }
        for left in (1..=10).rev() {
            let waited = Instant::now();
            let Some(message) = peer.receive() else {
                assert!(waited.elapsed() < AT_ONCE, "the end came late");
                return left;
            };
            sequence.take(&message);
            *came += 1;
        }
    }
    0
}

/// The remains of a killed bus: the pid file, and the processes of its services.
pub(crate) fn a_killed_bus_leaves_its_services_and_pid_file() {
    let form = TestDuration::requested();
    let mut left = Vec::new();
    for (name, start) in [
        ("ours", BusUnderTest::start as fn(&TestConfig) -> BusUnderTest),
        ("dbus-daemon", start_reference),
    ] {
        let folder = ScratchFolder::new();
        set_mode(folder.path(), 0o777);
        let config = config_with_services(&folder);
        let mut bus = start(&config);
        let mut peer = bus.peer();
        let service = start_service(&mut peer, &folder);
        kill(bus.process());
        assert_eq!(peer.until_closed().len(), 0);
        // A service notices the end of the bus only by its closed connection. This is enough time
        // for it to exit, which the test shows that it does not.
        std::thread::sleep(Duration::from_millis(200));
        left.push((name, runs(service), folder.join("pid").exists()));
        end(service);
        drop(bus);
    }
    let [ours, theirs] = &left[..] else { unreachable!("two buses") };
    assert_eq!((ours.1, ours.2), (theirs.1, theirs.2), "{left:?}");
    form.report(&format!("killed bus: service left running, pid file left: {left:?}"));
}

/// The pid file of a killed bus does not prevent the next bus from starting. With dbus-daemon it
/// does.
pub(crate) fn a_stale_pid_file_does_not_prevent_a_start() {
    let folder = ScratchFolder::new();
    let config = config_with_services(&folder);
    let mut bus = BusUnderTest::start(&config);
    let first = fs::read_to_string(folder.join("pid")).expect("it is there");
    kill(bus.process());
    assert_eq!(fs::read_to_string(folder.join("pid")).expect("it stays"), first);
    let file = folder.file("bus.conf", &config.text(folder.path()));
    let reference =
        ExternalProgram::at(installed("dbus-daemon", "dbus-daemon")).arg("--config-file").arg(file);
    let ran = reference.arg("--nofork").run();
    assert!(ran.code() == 1 && ran.stderr.contains("The pid file"), "{ran}");
    let mut next = BusUnderTest::start(&config);
    assert!(next.peer().is_alive());
    let second = fs::read_to_string(folder.join("pid")).expect("it is there");
    assert_eq!(second, format!("{}\n", next.process().id()));
    next.stop();
    assert!(!folder.join("pid").exists());
}

/// A bus with a pid file, and with a service that writes its process id and sends no messages.
fn config_with_services(folder: &ScratchFolder) -> TestConfig {
    let path = folder.path().display();
    let exec = format!("/bin/sh -c 'echo $$ > {path}/service; exec sleep 100'");
    let text = format!("[D-BUS Service]\nName=com.example.Silent\nExec={exec}\n");
    folder.file("com.example.Silent.service", &text);
    TestConfig::session()
        .element(&format!("<pidfile>{path}/pid</pidfile><servicedir>{path}</servicedir>"))
}

fn start_service(peer: &mut TestPeer, folder: &ScratchFolder) -> u32 {
    peer.send(
        PlainMessage::asking("StartServiceByName", "com.example.Silent").arg(PlainValue::U32(0)),
    );
    let file: PathBuf = folder.join("service");
    eventually("the service", || fs::read_to_string(&file).ok()?.trim().parse().ok())
}

fn kill(bus: &mut StartedProgram) {
    bus.signal(Signal::KILL);
    eventually("the end of the bus", || bus.ended());
}

/// Returns true if the service runs: a process with that id and that name.
fn runs(service: u32) -> bool {
    let path = format!("/proc/{service}/comm");
    fs::read_to_string(Path::new(&path)).is_ok_and(|name| name.trim() == "sleep")
}

fn end(service: u32) {
    let pid = rustix::process::Pid::from_raw(service.cast_signed()).expect("not 0");
    if runs(service) {
        let _ = rustix::process::kill_process(pid, Signal::KILL);
    }
}
