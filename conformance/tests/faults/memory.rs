//! Many recipients that do not read, until all queues are full; and a process that has less memory
//! than its configuration allows.

use std::io::Write as _;
use std::os::unix::process::ExitStatusExt as _;
use std::time::Duration;

use conformance::differential::start_reference;
use conformance::{
    BusUnderTest, PeerStream, PlainMessage, PlainValue, ScratchFolder, Signal, TestConfig,
    TestPeer, eventually, flag, kind,
};
use rustix::process::{Pid, Resource, Rlimit, prlimit};

use crate::form::TestDuration;
use crate::gauge::{Gauge, GaugeTotals, Rest};
use crate::latency::Latency;

/// The limit of each queue, in bytes.
const QUEUE: u64 = 1 << 20;

/// The factor by which the buffer of a queue may exceed its content: it grows by doubling.
const ROOM: u64 = 2;

/// The size of the bus's record of each message, and the length of the longest message, in bytes.
const NOTE: u64 = 128;
const LONGEST: u64 = 10_200;

/// Memory for everything else: the buffers of the event loop, and the allocator.
const OTHER: u64 = 8 << 20;

/// Lengths of bodies; each is used for the same number of recipients. With short ones, most of the
/// memory consists of the bus's records.
const LENGTHS: [usize; 3] = [10, 1000, 10_000];

pub(crate) fn limits_bound_the_memory_of_queues() {
    let form = TestDuration::requested();
    let sleepers = form.pick(30, 300);
    let config = TestConfig::session().limit("max_outgoing_bytes", QUEUE);
    let mut bus = BusUnderTest::start(&config.limit("max_connections_per_user", 10_000));
    let gauge = Gauge::of(&mut bus);
    let mut requester = bus.peer();
    let mut pair = [bus.peer(), bus.peer()];
    let rest = Rest::of(gauge, &mut requester);
    let before = Latency::between(&mut pair, 200);
    // Each queue is full of messages and records; the shortest message has about 200 bytes.
    let each = (QUEUE + LONGEST) * ROOM + QUEUE / 200 * NOTE * ROOM;
    let bound = sleepers * each + OTHER;
    // The kernel refuses any memory beyond that, which ends the bus.
    limit_memory(id_of(&mut bus), gauge.virtual_memory() + bound);

    let sleeping: Vec<_> = (0..sleepers).map(|_| bus.peer()).collect();
    // The bus waits a second for each recipient to read, and throttles its sender.
    let refused: u64 = std::thread::scope(|scope| {
        let fill = |(number, sleeper): (usize, &TestPeer)| {
            let (mut sender, to) = (bus.peer(), sleeper.name().to_owned());
            scope.spawn(move || fill(&mut sender, &to, LENGTHS[number % LENGTHS.len()]))
        };
        let threads: Vec<_> = sleeping.iter().enumerate().map(fill).collect();
        threads.into_iter().map(|thread| thread.join().expect("it ends well")).sum()
    });
    let full = gauge.memory();
    let during = Latency::between(&mut pair, 200);
    let totals = GaugeTotals::ask(&mut requester);
    let queued = totals.get("QueuedBytes");
    assert!(queued > sleepers * (QUEUE - LONGEST), "{queued}");
    assert!((full - rest.memory) * 1024 < bound, "{full} KiB");
    assert_eq!(totals.cause("RefusalCauses", "max_outgoing_bytes"), refused);
    drop(sleeping);
    let memory = rest.is_back(&mut requester);
    let lines = bus.process().stderr().lines().count();
    assert!((1..40).contains(&lines), "{}", bus.process().stderr());
    form.report(&format!(
        "memory: {sleepers} that do not read, {} MiB queued, {} MiB of {} MiB allowed by what the limits \
         come to; calls of others {before} before, {during} then; {} to {memory} KiB when they left; \
         {lines} lines in the log",
        queued >> 20,
        (full - rest.memory) >> 10,
        bound >> 20,
        rest.memory,
    ));
    bus.stop();
}

/// Sends messages to a recipient that does not read, until some are refused: returns their number.
fn fill(sender: &mut TestPeer, to: &str, len: usize) -> u64 {
    let body = PlainValue::text(&"x".repeat(len));
    let message = PlainMessage::some_call(to).flags(flag::NO_REPLY_EXPECTED).arg(body);
    loop {
        for _ in 0..20_000 / len.max(200) {
            sender.send(message.clone());
        }
        let refused = sender.collect();
        for error in &refused {
            assert_eq!((error.kind, error.error_name()), (kind::ERROR, "LimitsExceeded"));
        }
        if !refused.is_empty() {
            return refused.len() as u64;
        }
    }
}

/// The configuration allows more memory than there is. Checks the log, and the effects on peers.
pub(crate) fn a_bus_without_memory_logs_and_ends() {
    let form = TestDuration::requested();
    let folder = ScratchFolder::new();
    let address = format!("unix:path={}/bus", folder.path().display());
    let config = TestConfig::session().listen(&address);
    let mut bus = BusUnderTest::start(&config);
    let gauge = Gauge::of(&mut bus);
    let [mut watcher, mut sender, sleeper] = [(); 3].map(|()| bus.peer());
    limit_memory(id_of(&mut bus), gauge.virtual_memory() + (16 << 20));
    let body = PlainValue::text(&"x".repeat(1000));
    let message = PlainMessage::some_call(sleeper.name()).flags(flag::NO_REPLY_EXPECTED).arg(body);
    let bytes = sender.numbered(message).encode().repeat(50);
    let status = eventually("the end of the bus", || {
        sender.send_bytes(&bytes);
        bus.process().ended()
    });
    assert_eq!(status.signal(), Some(Signal::ABORT.as_raw()), "{status}");
    let log = bus.process().stderr();
    assert!(log.contains("memory allocation of "), "{log}");
    assert!(log.lines().count() < 10, "{log}");
    assert_eq!(watcher.until_closed().len(), 0, "everybody sees the end");
    let next = BusUnderTest::start(&config);
    assert!(next.peer().is_alive());
    next.stop();
    let reference = starve_reference();
    form.report(&format!("no memory: {status}; the log: {}; dbus-daemon {reference}", log.trim()));
}

/// The same with dbus-daemon: returns a description of its end and of the effect on senders.
fn starve_reference() -> String {
    let mut bus = start_reference(&TestConfig::session());
    let gauge = Gauge::of(&mut bus);
    let [mut sender, sleeper] = [(); 2].map(|()| bus.peer());
    limit_memory(id_of(&mut bus), gauge.virtual_memory() + (16 << 20));
    let body = PlainValue::text(&"x".repeat(1000));
    let message = PlainMessage::some_call(sleeper.name()).flags(flag::NO_REPLY_EXPECTED).arg(body);
    let bytes = sender.numbered(message).encode().repeat(50);
    for _ in 0..1000 {
        // dbus-daemon may take any time to read; this waits for a second at most.
        if !writes_within(&mut sender, &bytes, Duration::from_secs(1)) {
            break;
        }
    }
    let ended = bus.process().ended();
    ended.map_or_else(|| "lives on".to_owned(), |status| format!("ends with {status}"))
}

/// Returns true if the other end reads these bytes in time.
fn writes_within(peer: &mut TestPeer, bytes: &[u8], time: Duration) -> bool {
    let PeerStream::Unix(stream) = peer.stream() else { unreachable!("a unix socket") };
    stream.set_write_timeout(Some(time)).expect("the time is not zero");
    stream.write_all(bytes).is_ok()
}

fn id_of(bus: &mut BusUnderTest) -> Pid {
    Pid::from_raw(bus.process().id().cast_signed()).expect("a process has an id")
}

/// Limits the address space of a process.
fn limit_memory(process: Pid, bytes: u64) {
    let limit = Rlimit { current: Some(bytes), maximum: Some(bytes) };
    prlimit(Some(process), Resource::As, limit).expect("it is our child");
}
