//! A reader is stopped for a while, as by a debugger, and continues. Its queue is bounded, the
//! messages that it loses are counted, and other peers do not notice.

use std::time::{Duration, Instant};

use conformance::differential::start_reference;
use conformance::statistics::number;
use conformance::{BusUnderTest, PlainMessage, Signal, TestConfig, TestPeer, eventually};

use crate::form::TestDuration;
use crate::gauge;
use crate::latency::Latency;
use crate::numbered::{self, Sequence};
use crate::worker::{self, LAST, WorkerRole};

/// The limit of the queue of a recipient that does not read, in bytes.
const QUEUE: u64 = 4_000_000;

/// Bytes of each signal, without its header.
const LEN: usize = 10_000;

/// The allowed factor between the medians of calls by other peers, to which the noise of a busy
/// machine is added. It is less than the time for which the bus may throttle a sender.
const SLOWER: u32 = 2;
const NOISE: Duration = Duration::from_millis(5);

/// The time for which a sender may be throttled, once: the bus waits a second for a recipient to
/// read.
const HELD_UP: Duration = Duration::from_millis(1500);

/// The result of stopping a reader.
struct StoppedPeerOutcome {
    before: Latency,
    while_stopped: Latency,
    /// The longest time of a signal to the reader that was not stopped.
    slowest: Duration,
    sent: u32,
    /// First and last number of each range that arrived without a gap.
    runs: Vec<(u32, u32)>,
}

impl StoppedPeerOutcome {
    fn received(&self) -> u32 {
        self.runs.iter().map(|(first, last)| last - first + 1).sum()
    }
}

pub(crate) fn a_stopped_reader_does_not_delay_others() {
    let form = TestDuration::requested();
    let time = form.pick(Duration::from_secs(3), Duration::from_secs(60));
    let config = TestConfig::session().limit("max_outgoing_bytes", QUEUE);
    let mut bus = BusUnderTest::start(&config);
    let mut watcher = bus.peer();
    let outcome = stop_a_reader(&bus, time, |bus, name| {
        let counters = gauge::connection(&mut bus.peer(), name);
        let longest = LEN as u64 + 1000;
        let peak = number(&counters, "PeakQueuedBytes");
        assert!(peak <= QUEUE + longest, "{counters:?}");
        assert!(peak >= QUEUE - longest, "it was full: {counters:?}");
    });
    let StoppedPeerOutcome { before, while_stopped, slowest, sent, runs } = &outcome;
    assert!(while_stopped.median() < before.median() * SLOWER + NOISE, "{before} {while_stopped}");
    assert!(*slowest < HELD_UP, "a signal took {slowest:?}");
    let lost = gauge::GaugeTotals::ask(&mut watcher).get("LostMessages");
    assert!(lost > 0, "more was sent than may wait");
    assert_eq!(u64::from(outcome.received()) + lost, u64::from(*sent));
    assert!(runs.is_sorted(), "in order: {runs:?}");
    assert_eq!(runs[0].0, 0, "from the first one on");
    let log = bus.process().stderr();
    assert_eq!(log.matches("does not keep up: ").count(), 1, "{log}");
    assert!(log.contains(&format!("has caught up; it lost {lost} signals.")), "{log}");
    form.report(&format!(
        "stopped reader: {time:?}; {sent} signals of {LEN} bytes; of the reader {} came in {} runs, \
         {lost} lost and counted; another got all, the slowest in {slowest:?}; calls of others {before} before, \
         {while_stopped} while it was stopped",
        outcome.received(),
        runs.len(),
    ));
    bus.stop();

    let reference = start_reference(&config);
    let outcome = stop_a_reader(&reference, time, |_, _| {});
    let StoppedPeerOutcome { before, while_stopped, slowest, sent, .. } = &outcome;
    form.report(&format!(
        "stopped reader, dbus-daemon: {sent} signals, {} came; the slowest to another in {slowest:?}; calls {before} before, \
         {while_stopped} while it was stopped",
        outcome.received()
    ));
    reference.stop();
}

/// Sends signals to two readers, of which one is stopped for `time`, and checks the bus at the end
/// of that time.
fn stop_a_reader(
    bus: &BusUnderTest,
    time: Duration,
    look: impl FnOnce(&BusUnderTest, &str),
) -> StoppedPeerOutcome {
    let mut reader = worker::start(bus, WorkerRole::Reader);
    let name = worker::wait_until_there(&mut reader);
    let mut traffic = StoppedPeerTraffic::new(bus);
    let before = traffic.during(time / 3);
    reader.signal(Signal::STOP);
    let while_stopped = traffic.during(time);
    let slowest = traffic.slowest;
    look(bus, &name);
    reader.signal(Signal::CONT);
    traffic.wait_for(&name);
    // The queue of the reader has room again.
    let _ = traffic.during(time / 10);
    traffic.wait_for(&name);
    traffic.sender.send(numbered::signal("ToReader", LAST, 0));
    let ran = reader.finish().success();
    let runs = worker::printed_runs(&ran.stdout);
    StoppedPeerOutcome { before, while_stopped, slowest, sent: traffic.heard.count(), runs }
}

/// Broadcast signals, a reader in this process that loses none, and calls between other peers.
struct StoppedPeerTraffic {
    sender: TestPeer,
    reader: TestPeer,
    heard: Sequence,
    slowest: Duration,
    pair: [TestPeer; 2],
}

impl StoppedPeerTraffic {
    fn new(bus: &BusUnderTest) -> Self {
        let [sender, mut reader] = [bus.peer(), bus.peer()];
        reader.add_match(&numbered::rule("ToReader"));
        let (heard, slowest) = Default::default();
        Self { sender, reader, heard, slowest, pair: [bus.peer(), bus.peer()] }
    }

    fn during(&mut self, time: Duration) -> Latency {
        let ends = Instant::now() + time;
        let mut times = Vec::new();
        while Instant::now() < ends {
            let started = Instant::now();
            self.sender.send(numbered::signal("ToReader", self.heard.count(), LEN));
            self.heard.take(&self.reader.receive().expect("open"));
            self.slowest = self.slowest.max(started.elapsed());
            let [caller, callee] = &mut self.pair;
            times.push(caller.round_trip(callee));
            // About a thousand signals per second are enough.
            std::thread::sleep(Duration::from_millis(1));
        }
        Latency::of(times)
    }

    /// Waits until a reader has received everything, because it replies to a call after that.
    fn wait_for(&mut self, name: &str) {
        eventually("the reader to answer", || {
            let ping = PlainMessage::call(name, "/", "com.example.Numbered", "Sent");
            let [caller, _] = &mut self.pair;
            let answer = caller.call(ping);
            (answer.error_name() == "UnknownMethod").then_some(())
        });
    }
}
